// Settings of runs as earlier versions wrote them.
#include <algorithm>
#include <bit>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/io/config.h"
#include "attend/io/document.h"
#include "attend/train/run_config.h"

namespace attend {
namespace {

Document* find(Document& map, std::string_view key) {
  const auto found = std::ranges::find(map.keys, key);
  return found == map.keys.end() ? nullptr
                                 : &map.items[static_cast<size_t>(found - map.keys.begin())];
}

void put(Document& map, const std::string& key, Document value) {
  map.kind = Document::Kind::kMap;
  map.keys.push_back(key);
  map.key_lines.push_back(value.line);
  map.items.push_back(std::move(value));
}

// What was there; null where nothing was.
Document take(Document& map, std::string_view key) {
  const auto found = std::ranges::find(map.keys, key);
  if (found == map.keys.end()) return {};
  const auto at = found - map.keys.begin();
  Document taken = std::move(map.items[static_cast<size_t>(at)]);
  map.items.erase(map.items.begin() + at);
  map.key_lines.erase(map.key_lines.begin() + at);
  map.keys.erase(found);
  return taken;
}

Document scalar(std::string text) {
  Document made;
  made.kind = Document::Kind::kScalar;
  made.text = std::move(text);
  return made;
}

// The kind of model that a file is about; `usual` where it does not say.
std::string kind_of(Document& model, const std::string& usual) {
  if (const Document* kind = find(model, "kind"); kind != nullptr) return kind->text;
  const Document* preset = find(model, "preset");
  return preset == nullptr || preset->text.empty() ? usual
                                                   : ModelConfig::of_preset(preset->text).kind.name;
}

// Settings of all kinds of models stood side by side once, and those of a label model named its
// encoder. Today a kind's settings are alone, and an encoder's are within.
bool keep_one_kind(Document& root, const std::string& usual) {
  constexpr const char* kLabel = "label";
  Document* const model = find(root, "model");
  Document* const before = model == nullptr ? nullptr : find(*model, kLabel);
  Document* const named = before == nullptr ? nullptr : find(*before, "encoder");
  if (named == nullptr || named->kind != Document::Kind::kScalar) return false;
  const std::string kind = kind_of(*model, usual), encoder = named->text;
  Document settings = kind == kLabel ? take(*model, encoder) : Document();
  for (const std::string& other : model_kind_names()) {
    if (other != kind) take(*model, other);
  }
  Document* const label = find(*model, kLabel);
  if (label == nullptr) return true;
  take(*label, "encoder");
  Document within;
  put(within, "kind", scalar(encoder));
  if (settings.kind == Document::Kind::kMap) put(within, encoder, std::move(settings));
  put(*label, "encoder", std::move(within));
  // An output layer that was trained has outputs for special tokens.
  const Document outputs = take(*label, "target_vocabulary");
  if (outputs.kind == Document::Kind::kScalar && outputs.text != "0") {
    put(*label, "unused_outputs", scalar(std::to_string(kSpecialTokens)));
  }
  return true;
}

std::string text_of(const Document& value, const std::string& indent = "") {
  switch (value.kind) {
    case Document::Kind::kNull:
      return "~";
    case Document::Kind::kScalar:
      return value.style == Document::Style::kQuoted ? json_quoted(value.text) : value.text;
    case Document::Kind::kList: {
      std::string items;
      for (const Document& item : value.items) {
        items += (items.empty() ? "" : ", ") + text_of(item);
      }
      return "[" + items + "]";
    }
    case Document::Kind::kMap:
      break;
  }
  if (value.keys.empty()) return "~";
  std::string lines;
  for (size_t i = 0; i < value.keys.size(); ++i) {
    lines +=
        fmt::format("\n{}{}: {}", indent, value.keys[i], text_of(value.items[i], indent + "  "));
  }
  return lines;
}

void use_shards(RunConfig& config, const std::function<void(const std::string&)>& say) {
  TrainingConfig& training = config.training;
  const size_t batches = std::exchange(training.accumulation, 1);
  if (batches == 1) return;
  if (!std::has_single_bit(batches) || training.shards != 1) {
    throw ConfigError(
        "training.accumulation {} is no longer used; set training.shards to a power of two, and "
        "batch.tokens to the tokens of a whole update (now {} x {})",
        batches, batches, config.batch.tokens);
  }
  training.shards = batches;
  config.batch.tokens *= batches;
  config.batch.records *= batches;
  say(fmt::format("training.accumulation {0} is now training.shards {0} with batch.tokens {1}",
                  batches, config.batch.tokens));
}

}  // namespace

void read_run_config(RunConfig& config, const std::filesystem::path& file,
                     const std::function<void(const std::string&)>& say) {
  const std::string origin = file.string();
  RunConfig read = config;
  Document root = origin.ends_with(".json") ? parse_json(config_text(file), origin)
                                            : parse_yaml(config_text(file), origin);
  if (keep_one_kind(root, read.model.kind)) {
    read_yaml(read, text_of(root), origin);
  } else {
    read_config(read, file);
  }
  try {
    use_shards(
        read, say ? say : [](const std::string&) {});
  } catch (const ConfigError& error) {
    throw ConfigError("{}: {}", origin, error.what());
  }
  config = std::move(read);
}

RunConfig trained_config(const ModelDirectory& directory) {
  RunConfig config;
  if (std::filesystem::exists(directory.training())) {
    read_run_config(config, directory.training());
  }
  return config;
}

}  // namespace attend
