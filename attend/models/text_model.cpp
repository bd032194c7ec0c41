#include "attend/models/text_model.h"

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/io/config.h"
#include "attend/io/safetensors.h"
#include "attend/nn/init.h"

namespace attend {
namespace {

// Ids of other tokenizers would be read as if they were the model's own.
void check_vocabularies(const TextModel& model, const ModelDirectory& directory) {
  ModelConfig fitting = model.config;
  fitting.set_vocabularies(model.source->size(), model.target->size());
  for (const Difference& d : differences(model.config, fitting)) {
    const std::string section = d.path.substr(0, d.path.find('.'));
    const bool encoder =
        model.config.kind == ModelKind::kLabel && section == name_of(model.config.label.encoder);
    if (section != name_of(model.config.kind) && !encoder) continue;
    throw FormatError(
        "{}: config.json has {} = {}, but the tokenizer has {} tokens; copy the model directory "
        "anew, with all its files",
        directory.root.string(), d.path, d.before, d.after);
  }
}

}  // namespace

Tokenizers load_tokenizers(const ModelDirectory& directory) {
  const bool pair = std::filesystem::exists(directory.tokenizer("source"));
  if (std::filesystem::exists(directory.tokenizer())) {
    if (pair) {
      throw FormatError(
          "{}: it has both tokenizer.model and tokenizer.source.model; remove what is not the "
          "model's",
          directory.root.string());
    }
    const auto joint = load_tokenizer(directory.tokenizer());
    return {joint, joint};
  }
  if (!pair) return {};
  return {load_tokenizer(directory.tokenizer("source")),
          load_tokenizer(directory.tokenizer("target"))};
}

void save_tokenizers(const ModelDirectory& directory, const Tokenizers& tokenizers) {
  if (tokenizers.source == tokenizers.target) {
    tokenizers.source->save(directory.tokenizer());
    for (const char* side : {"source", "target"}) {
      std::filesystem::remove(directory.tokenizer(side));
    }
    return;
  }
  tokenizers.target->save(directory.tokenizer("target"));
  tokenizers.source->save(directory.tokenizer("source"));
  std::filesystem::remove(directory.tokenizer());
}

ModelConfig load_model_config(const ModelDirectory& directory) {
  if (!std::filesystem::exists(directory.config())) {
    throw IoError(
        "{}: not a model directory: it has no config.json; give the directory that `attend train` "
        "wrote",
        directory.root.string());
  }
  ModelConfig config;
  read_config(config, directory.config());
  return config;
}

TextModel TextModel::load_description(const ModelDirectory& directory) {
  TextModel loaded;
  loaded.config = load_model_config(directory);
  const Tokenizers tokenizers = load_tokenizers(directory);
  if (tokenizers.source == nullptr) {
    throw IoError("{}: it has no tokenizer; copy the model directory anew, with all its files",
                  directory.root.string());
  }
  loaded.source = tokenizers.source;
  loaded.target = tokenizers.target;
  check_vocabularies(loaded, directory);
  Rng rng(0);
  const ShapesOnly until_loaded;
  loaded.model = make_model(loaded.config, rng);
  return loaded;
}

TextModel TextModel::load(const std::filesystem::path& root) {
  const ModelDirectory directory{root};
  TextModel loaded = load_description(directory);
  if (!std::filesystem::exists(directory.weights())) {
    throw IoError(
        "{0}: no model.safetensors yet, which training writes when it first validates or ends; go "
        "on "
        "training, or let `attend average {0} --last 1 --out DIRECTORY` make one of the newest "
        "checkpoint",
        root.string());
  }
  load_weights(directory.weights(), parameters(*loaded.model));
  if (std::filesystem::exists(directory.alignment())) {
    read_config(loaded.best_alignment.emplace(), directory.alignment());
  }
  return loaded;
}

void TextModel::save_best_alignment(const ModelDirectory& directory) const {
  if (best_alignment) replace_file(directory.alignment(), to_json(*best_alignment) + "\n");
}

void TextModel::save_description(const ModelDirectory& directory) const {
  replace_file(directory.config(), to_json(config) + "\n");
  save_tokenizers(directory, {source, target});
}

void TextModel::save_weights(const std::filesystem::path& file) const {
  write_safetensors(file, parameters(*model));
}

}  // namespace attend
