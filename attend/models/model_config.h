// A kind of model, with the settings of that kind alone.
#pragma once

#include <fmt/format.h>

#include <map>

#include "attend/models/registry.h"

namespace attend {

// A kind from the registry and its settings. When the kind changes, the settings become its
// defaults.
template <std::vector<std::string> (*kNames)()>
struct KindConfig {
  Choice<kNames> kind;
  AnyConfig settings;

  explicit KindConfig(std::string_view name)
      : kind(name), settings(model_kind(name).defaults()), settings_of_(name) {}

  template <typename V>
  void fields(V& v) {
    v("kind", kind, "what it is");
    if (settings_of_ != kind.name) {
      settings = model_kind(kind.name).defaults();
      settings_of_ = kind.name;
    }
    for (const std::string& name : kNames()) {
      const ModelKind& other = model_kind(name);
      if (name == kind.name) {
        v(name, settings, other.summary);
      } else {
        v.unused(name, other.summary, fmt::format("the kind is {}", kind.name), other.defaults);
      }
    }
  }

 private:
  std::string settings_of_;
};

// The architecture of a model: config.json, and `model` in a run's settings.
struct ModelConfig : KindConfig<model_kind_names> {
  std::string preset;  // from which the settings started; may be empty

  ModelConfig() : KindConfig("transformer") {}
  explicit ModelConfig(std::string_view kind_name) : KindConfig(kind_name) {}
  // The settings of a preset, "small" or "bahdanau". Throws ConfigError that lists the presets.
  static ModelConfig of_preset(std::string_view name);

  template <typename V>
  void fields(V& v) {
    v("preset", preset, "a model from the papers to start from");
    KindConfig::fields(v);
  }

  // Sets the number of tokens or labels of each column, by name; names that the model does not have
  // are ignored.
  using Vocabularies = std::map<std::string, size_t>;
  void set_vocabularies(const Vocabularies& sizes);
};

// A new model with random weights. Throws ConfigError for settings that are not valid.
std::unique_ptr<Model> make_model(const ModelConfig& config, Rng& rng);

}  // namespace attend
