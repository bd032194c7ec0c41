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

std::span<const ModelKind> model_kinds();
const ModelKind& model_kind(std::string_view name);  // ConfigError with the choices
std::vector<std::string> model_kind_names();
std::vector<std::string> encoder_kind_names();  // those with an encoder that others can use

std::string preset_names();  // "tiny, small, base ..."

}  // namespace attend
