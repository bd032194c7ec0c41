// The registry of kinds of models. A kind is one file, with its settings, and one line in
// registry.cpp; nothing outside models/ refers to a kind by name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/any_config.h"
#include "attend/base/rng.h"
#include "attend/models/model.h"
#include "attend/models/sequence_encoder.h"

namespace attend {

// A size in terms that kinds have in common, for a model that is chosen by its data.
struct ModelSize {
  size_t width = 128, layers = 2;  // of an encoder and a decoder, so many each
  float dropout = 0.1f;
  bool one_vocabulary = false;  // for all that it reads and writes
};

// Named settings to start from.
struct ModelPreset {
  std::string_view name, summary;
  AnyConfig (*settings)();
};

// A kind and its settings, within the settings of another.
struct InnerModel {
  std::string kind;
  AnyConfig settings;
};

// What is known of a kind of model.
struct ModelKind {
  std::string_view name, summary;
  AnyConfig (*defaults)();
  std::unique_ptr<Model> (*make)(const AnyConfig& settings, Rng& rng);
  std::vector<ModelPreset> presets;
  // Makes the part that reads a sequence, if other models can use it.
  std::unique_ptr<SequenceEncoder> (*make_encoder)(const AnyConfig& settings, Rng& rng) = nullptr;
  bool is_language_model = false;
  // The settings of a model of this kind that wraps one of another kind, and so has other columns;
  // null if that is not possible.
  std::unique_ptr<AnyConfig> (*around)(std::string_view kind, const AnyConfig& settings) = nullptr;
  // The same settings for a model that reads pairs of texts instead of single ones; null if it
  // cannot.
  AnyConfig (*of_pairs)(const AnyConfig& settings) = nullptr;
  // Of a model that is built around another: what that is; null where it is built around none.
  std::unique_ptr<InnerModel> (*inner)(const AnyConfig& settings) = nullptr;
  // The settings of a model of some size. Where no model is named, the first kind that has this and
  // fits the data is used.
  AnyConfig (*sized)(const ModelSize& size) = nullptr;
};

// A kind whose model is made from its config alone.
template <typename ModelType, typename Config>
ModelKind kind_of(std::string_view name, std::string_view summary,
                  std::vector<ModelPreset> presets) {
  return {name, summary, [] { return AnyConfig(Config()); },
          [](const AnyConfig& settings, Rng& rng) -> std::unique_ptr<Model> {
            return std::make_unique<ModelType>(settings.as<Config>(), rng);
          },
          std::move(presets)};
}

// A make_encoder for an encoder that is made from the config alone.
template <typename EncoderType, typename Config>
std::unique_ptr<SequenceEncoder> encoder_of(const AnyConfig& settings, Rng& rng) {
  const auto& config = settings.as<Config>();
  config.check();
  return std::make_unique<EncoderType>(config, rng);
}

// The same for a language model.
template <typename ModelType, typename Config>
ModelKind language_model_kind_of(std::string_view name, std::string_view summary,
                                 std::vector<ModelPreset> presets) {
  ModelKind kind = kind_of<ModelType, Config>(name, summary, std::move(presets));
  kind.is_language_model = true;
  return kind;
}

// All kinds.
std::span<const ModelKind> model_kinds();
const ModelKind& model_kind(std::string_view name);  // throws ConfigError that lists the kinds
std::vector<std::string> model_kind_names();         // of all kinds
std::vector<std::string> encoder_kind_names();       // kinds with an encoder that others can use
std::vector<std::string> language_model_names();     // of those that are language models

std::string preset_names();  // "tiny, small, base ..."

}  // namespace attend
