// Every kind of model, by name. A kind is a file of its own, with its settings, and a line in
// registry.cpp: nothing outside models/ knows one by its name.
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

// Settings to start from.
struct ModelPreset {
  std::string_view name, summary;
  AnyConfig (*settings)();
};

struct ModelKind {
  std::string_view name, summary;
  AnyConfig (*defaults)();
  std::unique_ptr<Model> (*make)(const AnyConfig& settings, Rng& rng);
  std::vector<ModelPreset> presets;
  // The part that reads a sequence, where others can use it.
  std::unique_ptr<SequenceEncoder> (*make_encoder)(const AnyConfig& settings, Rng& rng) = nullptr;
  bool is_language_model = false;
  // The settings of a model of this kind around one of another, which then has other columns; null
  // where it cannot be.
  std::unique_ptr<AnyConfig> (*around)(std::string_view kind, const AnyConfig& settings) = nullptr;
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

// Its make_encoder, where an encoder, too, is made from the config alone.
template <typename EncoderType, typename Config>
std::unique_ptr<SequenceEncoder> encoder_of(const AnyConfig& settings, Rng& rng) {
  const auto& config = settings.as<Config>();
  config.check();
  return std::make_unique<EncoderType>(config, rng);
}

// The same of one that writes one sequence and reads nothing else.
template <typename ModelType, typename Config>
ModelKind language_model_kind_of(std::string_view name, std::string_view summary,
                                 std::vector<ModelPreset> presets) {
  ModelKind kind = kind_of<ModelType, Config>(name, summary, std::move(presets));
  kind.is_language_model = true;
  return kind;
}

std::span<const ModelKind> model_kinds();
const ModelKind& model_kind(std::string_view name);  // ConfigError with the choices
std::vector<std::string> model_kind_names();
std::vector<std::string> encoder_kind_names();  // those with an encoder that others can use
std::vector<std::string> language_model_names();

std::string preset_names();  // "tiny, small, base ..."

}  // namespace attend
