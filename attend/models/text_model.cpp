#include "attend/models/text_model.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/printable.h"
#include "attend/base/version.h"
#include "attend/io/bounded_json.h"
#include "attend/io/checkpoint.h"
#include "attend/io/config.h"
#include "attend/io/safetensors.h"
#include "attend/models/adapter.h"
#include "attend/nn/init.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

// config.json: the architecture, after the format of the directory it describes. Directories from
// before there were formats have none.
struct StoredConfig : ModelConfig {
  size_t format = kModelFormat;
  std::string needs = std::string(kModelFormatSince);

  StoredConfig() = default;
  explicit StoredConfig(const ModelConfig& config) : ModelConfig(config) {}

  template <typename V>
  void fields(V& v) {
    v("format", format, "version of the model directory's format", limits::kCount);
    v("needs", needs, "first version of Attend that reads it");
    ModelConfig::fields(v);
  }
};

// A later format may have settings that would be misread or refused for the wrong reason.
void check_format(const std::string& text, const std::string& origin) {
  const std::string format = peek(text, "format", origin).value_or("");
  size_t number = 0;
  std::from_chars(format.data(), format.data() + format.size(), number);
  if (number <= kModelFormat) return;
  const std::string needs = peek(text, "needs", origin).value_or("");
  throw FormatError(
      "{}: the model directory has format {}, which needs {}; this is Attend {}, which reads "
      "formats up to {}. Install a later version",
      origin, number, needs.empty() ? "a later version of Attend" : "Attend " + shown_name(needs),
      library_version(), kModelFormat);
}

// Ids of other tokenizers would be read as if they were the model's own.
void check_vocabularies(const TextModel& model, const ModelDirectory& directory) {
  ModelConfig fitting = model.config;
  fitting.set_vocabularies(vocabularies_of(model.tokenizers, model.model->signature()));
  for (const Difference& d : differences(model.config, fitting)) {
    throw FormatError(
        "{}: config.json has {} = {}, but the tokenizer has {}; copy the whole model directory "
        "again",
        directory.root.string(), d.path, d.before, d.after);
  }
}

// Label models wrote their labels once, as sequences of one token: config.json of that time as it
// is written now.
std::string upgraded(const std::string& text, const std::string& origin) {
  if (peek(text, "kind", origin) != "label") return text;
  const auto outputs_text = peek(text, "label.target_vocabulary", origin);
  const auto encoder_text = peek(text, "label.encoder", origin);
  if (!outputs_text || !encoder_text) return text;
  const Json json = parse_bounded_json(text, origin, {});
  Json label = json["label"];
  const std::string encoder = *encoder_text;
  const size_t special = kSpecialTokens;
  const size_t outputs = label["target_vocabulary"].is_number_unsigned()
                             ? label["target_vocabulary"].get<size_t>()
                             : 0;
  label.erase("target_vocabulary");
  label["unused_outputs"] = special;
  label["label_vocabulary"] = outputs > special ? outputs - special : 0;
  label["encoder"] = {{"kind", encoder}};
  if (json.contains(encoder) && json[encoder].is_object()) {
    Json settings = json[encoder];
    if (settings.contains("source_vocabulary")) {
      label["text_vocabulary"] = settings["source_vocabulary"];
    }
    label["encoder"][encoder] = std::move(settings);
  }
  return Json{{"preset", json.value("preset", "")}, {"kind", "label"}, {"label", label}}.dump();
}

// The name under which earlier versions kept the tokenizer of a column.
std::string_view old_name(std::string_view column) {
  if (column == "text") return "source";
  return column == "label" ? "target" : column;
}

std::filesystem::path tokenizer_file(const ModelDirectory& directory, std::string_view column) {
  std::filesystem::path file = directory.tokenizer(column);
  if (std::filesystem::exists(file)) return file;
  return directory.tokenizer(old_name(column));
}

}  // namespace

TextEncoder encoder_of(const std::shared_ptr<const Tokenizer>& tokenizer) {
  return {[tokenizer](std::string_view line) { return tokenizer->encode(line); }, tokenizer->size(),
          tokenizer->fingerprint(), tokenizer->special()};
}

ModelConfig::Vocabularies vocabularies_of(const Tokenizers& tokenizers,
                                          const Signature& signature) {
  ModelConfig::Vocabularies sizes;
  for (const ColumnSpec& column : signature.columns) {
    const auto found = tokenizers.find(column.name);
    if (found == tokenizers.end()) continue;
    const Tokenizer& tokenizer = *found->second;
    const bool labels = column.kind == ColumnKind::kLabel || column.kind == ColumnKind::kLabels;
    const size_t skipped = labels ? static_cast<size_t>(tokenizer.first_piece()) : 0;
    sizes[column.name] = tokenizer.size() - std::min(skipped, tokenizer.size());
  }
  return sizes;
}

void check_tokenizers(const Tokenizers& tokenizers, const Signature& signature) {
  if (!signature.joined) return;
  const Tokenizer& first = *tokenizers.at(signature.columns.front().name);
  for (const ColumnSpec& column : signature.columns) {
    if (column.kind != ColumnKind::kTokens) continue;
    if (tokenizers.at(column.name)->fingerprint() == first.fingerprint()) continue;
    throw ConfigError(
        "the model reads {} and {} as one sequence, but they have different tokenizers; give them "
        "one, tokenizer.model",
        signature.columns.front().name, column.name);
  }
}

Tokenizers load_tokenizers(const ModelDirectory& directory, const Signature& signature) {
  Tokenizers found;
  std::shared_ptr<const Tokenizer> joint;
  if (std::filesystem::exists(directory.tokenizer())) {
    joint = load_tokenizer(directory.tokenizer());
  }
  for (const ColumnSpec& column : signature.columns) {
    const std::filesystem::path file = tokenizer_file(directory, column.name);
    const bool own = std::filesystem::exists(file);
    if (own && joint != nullptr) {
      throw FormatError("{}: it has both {} and {}; remove the one that is not the model's",
                        directory.root.string(), directory.tokenizer().filename().string(),
                        file.filename().string());
    }
    if (own) found[column.name] = load_tokenizer(file);
    if (joint != nullptr) found[column.name] = joint;
  }
  return found;
}

void save_tokenizers(const ModelDirectory& directory, const Tokenizers& tokenizers) {
  const auto& first = tokenizers.begin()->second;
  const bool joint =
      std::ranges::all_of(tokenizers, [&](const auto& entry) { return entry.second == first; });
  if (joint) {
    first->save(directory.tokenizer());
  } else {
    for (const auto& [column, tokenizer] : tokenizers) tokenizer->save(directory.tokenizer(column));
    std::filesystem::remove(directory.tokenizer());
  }
  for (const auto& [column, _] : tokenizers) {
    if (joint) std::filesystem::remove(directory.tokenizer(column));
    if (old_name(column) != column) std::filesystem::remove(directory.tokenizer(old_name(column)));
  }
}

ModelConfig load_model_config(const ModelDirectory& directory) {
  if (!std::filesystem::exists(directory.config())) {
    throw IoError(
        "{}: not a model directory: it has no config.json; give the directory that `attend train` "
        "wrote",
        directory.root.string());
  }
  const std::string origin = directory.config().string();
  const std::string text = config_text(directory.config());
  check_format(text, origin);
  StoredConfig config;
  read_json(config, upgraded(text, origin), origin);
  return static_cast<const ModelConfig&>(config);
}

namespace {

// As the run would keep it: the moving average, if there is one.
void load_checkpoint(const Checkpoint& checkpoint, Model& model) {
  const SafetensorsFile file(checkpoint.path / kTrainingTensors);
  const std::vector<NamedTensor> tensors = parameters_and_buffers(model);
  std::vector<const SafetensorsFile::Entry*> entries;
  for (const NamedTensor& tensor : tensors) {
    const SafetensorsFile::Entry* entry = file.find(kAveragePrefix + tensor.name);
    if (entry == nullptr) entry = file.find(kWeightsPrefix + tensor.name);
    if (entry == nullptr || entry->shape != tensor.tensor.shape()) {
      throw FormatError("{}: it has no {} of shape {}; copy the whole model directory again",
                        file.path().string(), tensor.name, tensor.tensor.shape());
    }
    entries.push_back(entry);
  }
  for (size_t i = 0; i < tensors.size(); ++i) {  // once all of them fit
    tensors[i].tensor.allocate();
    file.read_into(*entries[i], tensors[i].tensor);
  }
}

}  // namespace

TextModel TextModel::load_description(const ModelDirectory& directory) {
  TextModel loaded;
  loaded.config = load_model_config(directory);
  Rng rng(0);
  const ShapesOnly until_loaded;
  loaded.model = make_model(loaded.config, rng);
  const Signature signature = loaded.model->signature();
  loaded.tokenizers = load_tokenizers(directory, signature);
  for (const ColumnSpec& column : signature.columns) {
    if (!column.has_tokenizer() || loaded.tokenizers.contains(column.name)) continue;
    throw IoError("{}: it has no tokenizer of its {}; copy the whole model directory again",
                  directory.root.string(), column.name);
  }
  check_tokenizers(loaded.tokenizers, signature);
  check_vocabularies(loaded, directory);
  loaded.read_words();
  return loaded;
}

TextModel TextModel::load(const std::filesystem::path& root) {
  const ModelDirectory directory{root};
  if (is_adapter(directory)) return adapted_model(directory);
  TextModel loaded = load_description(directory);
  if (!std::filesystem::exists(directory.weights())) {
    const auto newest = checkpoint_of_unfinished(directory);
    if (!newest) {
      throw IoError(
          "{0}: it has neither model.safetensors nor a checkpoint; copy the whole model directory "
          "again, or continue its training: `attend train {0}`",
          root.string());
    }
    load_checkpoint(*newest, *loaded.model);
    return loaded;
  }
  load_weights(directory.weights(), parameters_and_buffers(*loaded.model));
  if (std::filesystem::exists(directory.alignment())) {
    read_config(loaded.best_alignment.emplace(), directory.alignment());
  }
  return loaded;
}

void TextModel::read_words() const {
  for (const ColumnSpec& column : model->signature().columns) {
    if (column.kind != ColumnKind::kTokens && column.kind != ColumnKind::kLabels) continue;
    model->read_words(column.name, *tokenizers.at(column.name));
  }
}

const Tokenizer& TextModel::tokenizer(std::string_view column) const {
  const auto found = tokenizers.find(column);
  if (found != tokenizers.end()) return *found->second;
  throw ConfigError("the model has no tokenizer of a {}: it is a {} model", column,
                    config.kind.name);
}

const Generator& TextModel::generator() const {
  return facet(model->generator(), "writes no sequences");
}

const Classifier& TextModel::classifier() const {
  return facet(model->classifier(), "gives no labels");
}

const Tagger& TextModel::tagger() const { return facet(model->tagger(), "gives no tags"); }

const Regressor& TextModel::regressor() const {
  return facet(model->regressor(), "gives no numbers");
}

const MaskedPredictor& TextModel::masked_predictor() const {
  return facet(model->masked_predictor(), "predicts no masked tokens");
}

template <typename Facet>
const Facet& TextModel::facet(const Facet* found, std::string_view lacks) const {
  if (found != nullptr) return *found;
  const bool answers =
      model->classifier() != nullptr || model->tagger() != nullptr || model->regressor() != nullptr;
  const std::string_view use = model->generator() != nullptr ? (read() ? "translate" : "generate")
                               : model->masked_predictor() != nullptr ? "fill"
                               : answers                              ? "classify"
                                                                      : "embed";
  throw ConfigError("the model {}: it is a {} model; use {}", lacks, config.kind.name, use);
}

ColumnSpec TextModel::written() const {
  for (const ColumnSpec& column : model->signature().columns) {
    if (column.written && column.kind == ColumnKind::kTokens) return column;
  }
  generator();  // says what it is instead
  throw ConfigError("the model writes no text: it is a {} model", config.kind.name);
}

std::optional<ColumnSpec> TextModel::read() const {
  for (const ColumnSpec& column : model->signature().columns) {
    if (!column.written) return column;
  }
  return std::nullopt;
}

Batch TextModel::inputs(std::span<const std::vector<int32_t>> lines) const {
  const std::optional<ColumnSpec> column = read();
  if (!column) return Batch(lines.size());
  TokenLines framed_lines;
  for (const std::vector<int32_t>& line : lines) {
    framed_lines.add(framed(line, column->framing, tokenizer(column->name).special()));
  }
  return {column->name, framed_lines.tokens()};
}

std::string TextModel::label(size_t number) const {
  const Tokenizer& labels = tokenizer("label");
  const int32_t id = labels.first_piece() + static_cast<int32_t>(number);
  return labels.decode(std::span(&id, 1));
}

void TextModel::save_best_alignment(const ModelDirectory& directory) const {
  if (best_alignment) replace_file(directory.alignment(), to_json(*best_alignment) + "\n");
}

void TextModel::save_description(const ModelDirectory& directory) const {
  replace_file(directory.config(), to_json(StoredConfig(config)) + "\n");
  save_tokenizers(directory, tokenizers);
}

void TextModel::save_weights(const std::filesystem::path& file) const {
  write_safetensors(file, parameters_and_buffers(*model));
}

}  // namespace attend
