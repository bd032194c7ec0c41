// `attend info`: what a model directory holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/printable.h"
#include "attend/data/corpus.h"
#include "attend/io/config.h"
#include "attend/io/json_log.h"
#include "attend/io/safetensors.h"
#include "attend/models/adapter.h"
#include "attend/models/text_model.h"
#include "attend/nn/init.h"
#include "attend/train/run_config.h"
#include "cli/commands.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
  std::filesystem::path model;
  bool json = false;
};

// Parameters by the first part of their names, in order. Weights that do not fit the config are an
// error; their values are not read.
Json parameters_of(const ModelConfig& config, const ModelDirectory& directory) {
  const ShapesOnly no_values;
  Rng rng(0);
  const auto model = make_model(config, rng);
  if (std::filesystem::exists(directory.weights())) {
    check_weights(SafetensorsFile(directory.weights()), parameters_and_buffers(*model));
  }
  size_t total = 0;
  Json parts = Json::object();
  for (const NamedTensor& p : parameters(*model)) {
    const std::string part = p.name.substr(0, p.name.find('.'));
    parts[part] = parts.value(part, size_t{0}) + p.tensor.size();
    total += p.tensor.size();
  }
  return {{"total", total}, {"parts", parts}};
}

// By column; or once, where all have the same.
Json vocabularies_of_model(const ModelConfig& config, const ModelDirectory& directory) {
  const Signature signature = signature_of(config);
  const Tokenizers found = load_tokenizers(directory, signature);
  const ModelConfig::Vocabularies sizes = vocabularies_of(found, signature);
  Json all = Json::object();
  bool joint = found.size() > 1;
  for (const ColumnSpec& column : signature.columns) {
    const auto tokenizer = found.find(column.name);
    if (tokenizer == found.end()) continue;
    joint &= tokenizer->second == found.begin()->second;
    all[column.name] = {{"kind", name_of(tokenizer->second->kind())},
                        {"tokens", sizes.at(column.name)}};
  }
  return joint ? Json{{"joint", all.front()}} : all;
}

// A number or a switch of a line, which may have anything in its place.
double number_in(const Json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_number() ? found->get<double>() : NAN;
}
bool is_set(const Json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_boolean() && found->get<bool>();
}

// What the metric of a validation's line of the log is called, and its value.
std::pair<std::string, double> score_of(const Json& line) {
  for (const auto& [key, value] : line.items()) {
    if (!key.starts_with("valid_") || !value.is_number()) continue;
    if (key != "valid_loss" && key != "valid_perplexity") return {key.substr(6), value};
  }
  return {"loss", number_in(line, "valid_loss")};
}

void summarize(const Json& line, Json& summary) {
  if (!line.contains("step") || !line["step"].is_number()) return;
  summary["steps"] = line["step"];
  if (line.contains("loss")) {
    summary["epoch"] = number_in(line, "epoch");
    summary["loss"] = number_in(line, "loss");
  }
  if (is_set(line, "best")) {
    const auto [metric, value] = score_of(line);
    summary["best"] = {{"metric", metric}, {"score", value}, {"step", line["step"]}};
  }
}

// The end of log.jsonl in short: fifty thousand reports. Lines that are none of ours, such as
// one that a crash tore, are passed over.
Json training_of(const ModelDirectory& directory) {
  constexpr size_t kMostBytes = size_t{8} << 20;
  Json summary = Json::object();
  if (!std::filesystem::exists(directory.log())) return summary;
  const FileReader log(directory.log());
  std::string end(std::min(log.size(), kMostBytes), '\0');
  log.read(log.size() - end.size(), std::as_writable_bytes(std::span(end)));
  std::string_view rest = end;
  while (!rest.empty()) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    if (text.find("\"step\"") == text.npos) continue;  // which is found sooner than parsed
    if (const auto line = parse_log_line(text)) summarize(*line, summary);
  }
  if (summary.empty() || !std::filesystem::exists(directory.training())) return summary;
  const std::string file = directory.training().string();
  const auto steps = peek(config_text(directory.training()), "training.steps", file);
  if (const Json planned = Json::parse(steps.value_or(""), nullptr, false); planned.is_number()) {
    summary["planned_steps"] = planned;
  }
  return summary;
}

// Records of each corpus, and its share of the records of an epoch.
void add_records(const ModelDirectory& directory, Json& corpora) {
  const std::filesystem::path file = directory.root / "train.corpus";
  if (!std::filesystem::exists(file)) return;
  try {
    const Corpus corpus(file);
    const std::span<const uint64_t> ends = corpus.parts();
    if (ends.size() != corpora.size()) return;
    double all = 0;
    for (size_t i = 0; i < ends.size(); ++i) {
      corpora[i]["records"] = ends[i] - (i == 0 ? 0 : ends[i - 1]);
      all += corpora[i]["records"].get<double>() * corpora[i]["weight"].get<double>();
    }
    for (Json& part : corpora) {
      part["share"] = part["records"].get<double>() * part["weight"].get<double>() / all;
    }
  } catch (const Error&) {  // it is made again when the run is resumed
  }
}

// Nested ones with dotted names.
void flatten(const Json& settings, const std::string& prefix, Json& to) {
  for (const auto& [key, value] : settings.items()) {
    if (value.is_object()) {
      flatten(value, prefix + key + ".", to);
    } else {
      to[prefix + key] = value;
    }
  }
}

Json settings_of(const ModelConfig& config) {
  Json settings = Json::object();
  flatten(Json::parse(to_json(config.settings)), "", settings);
  return settings;
}

Json adapter_of(const ModelDirectory& directory) {
  if (!is_adapter(directory)) return nullptr;
  const AdapterDescription adapter = load_adapter_description(directory);
  return {{"base", adapter.base.string()}, {"rank", adapter.lora.rank}};
}

// The corpora of training: files, weights and, while the corpus file is there, records.
Json data_of(const ModelDirectory& directory) {
  Json corpora = Json::array();
  DataConfig data;
  try {
    data = trained_config(directory).data;
  } catch (const Error&) {  // settings of a later version
    return corpora;
  }
  const TextFiles& first = data.text.empty() ? data.source : data.text;
  for (size_t i = 0; i < first.size(); ++i) {
    Json files = Json::array();
    for (const TextFiles* column : {&data.source, &data.text, &data.pair, &data.target, &data.label,
                                    &data.tags, &data.number}) {
      if (i < column->size()) files.push_back((*column)[i].string());
    }
    corpora.push_back(
        {{"files", files}, {"weight", i < data.weights.size() ? data.weights[i] : 1}});
  }
  add_records(directory, corpora);
  return corpora;
}

Json describe(const std::filesystem::path& root) {
  const ModelDirectory directory{root};
  const ModelConfig config = load_model_config(directory);
  return {{"directory", root.string()},
          {"kind", config.kind.name},
          {"preset", config.preset},
          {"weights", std::filesystem::exists(directory.weights())},
          {"adapter", adapter_of(directory)},
          {"parameters", parameters_of(config, directory)},
          {"vocabularies", vocabularies_of_model(config, directory)},
          {"config", settings_of(config)},
          {"data", data_of(directory)},
          {"training", training_of(directory)}};
}

void print_training(const Json& training) {
  if (training.empty()) return fmt::print("training      no log\n");
  fmt::print("training      step {}", training["steps"].dump());
  if (training.contains("planned_steps")) fmt::print(" of {}", training["planned_steps"].dump());
  if (training.contains("loss")) {
    fmt::print(", epoch {:.1f}, loss {:.3f}", training["epoch"].get<double>(),
               training["loss"].get<double>());
  }
  fmt::print("\n");
  if (!training.contains("best")) return;
  const Json& best = training["best"];
  fmt::print("best          {} {:.3f} at step {}\n", shown_name(best["metric"].get<std::string>()),
             best["score"].get<double>(), best["step"].dump());
}

void print_data(const Json& corpora) {
  for (const Json& corpus : corpora) {
    std::vector<std::string> files;
    for (const Json& file : corpus["files"]) files.push_back(shown_name(file.get<std::string>()));
    fmt::print("data          {}", fmt::join(files, " + "));
    if (corpora.size() > 1) fmt::print(", weight {}", corpus["weight"].get<double>());
    if (corpus.contains("records")) fmt::print(", {} records", corpus["records"].dump());
    if (corpora.size() > 1 && corpus.contains("share")) {
      fmt::print(", {:.1f} % of an epoch", 100 * corpus["share"].get<double>());
    }
    fmt::print("\n");
  }
}

void print(const Json& info) {
  const std::string preset = info["preset"];
  fmt::print("model         {}{}\n", info["kind"].get<std::string>(),
             preset.empty() ? "" : fmt::format(", preset {}", shown_name(preset)));
  if (const Json& adapter = info["adapter"]; !adapter.is_null()) {
    fmt::print("adapter       rank {} of {}\n", adapter["rank"].dump(),
               shown_name(adapter["base"].get<std::string>()));
  } else if (!info["weights"]) {
    fmt::print("weights       none yet\n");
  }
  fmt::print("parameters    {}\n", info["parameters"]["total"].dump());
  for (const auto& [part, count] : info["parameters"]["parts"].items()) {
    fmt::print("  {:<30}{:>12}\n", part, count.dump());
  }
  for (const auto& [column, vocabulary] : info["vocabularies"].items()) {
    fmt::print("vocabulary    {}: {} tokens, {}\n", column, vocabulary["tokens"].dump(),
               vocabulary["kind"].get<std::string>());
  }
  print_data(info["data"]);
  print_training(info["training"]);
  fmt::print("settings\n");
  for (const auto& [key, value] : info["config"].items()) {
    fmt::print("  {:<30}{:>12}\n", key,
               value.is_string() ? shown_name(value.get<std::string>())
               : value.is_null() ? "none"
                                 : value.dump());
  }
}

int run_info(const InfoOptions& options) {
  const Json info = describe(options.model);
  if (options.json) {
    fmt::print("{}\n", info.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print(info);
  }
  return 0;
}

}  // namespace

Command add_info(CLI::App& app) {
  CLI::App* parser =
      app.add_subcommand("info", "Show a model's parameters, vocabularies, settings and training");
  auto options = std::make_shared<InfoOptions>();
  parser->add_option("model", options->model, "model directory")
      ->required()
      ->type_name("DIRECTORY");
  parser->add_flag("--json", options->json, "one JSON object");
  parser->footer(
      "Examples:\n"
      "  attend info model\n"
      "  attend info model --json | jq .training.best");
  return {parser, [options] { return run_info(*options); }};
}

}  // namespace attend::cli
