// Which model, and its settings: those of its own kind and no others.
#pragma once

#include <fmt/format.h>

#include <map>

#include "attend/models/registry.h"

namespace attend {

// A kind from the registry and what can be set of it. Where the kind changes, its settings start
// from its defaults.
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

struct ModelConfig : KindConfig<model_kind_names> {
  std::string preset;  // what the settings started from

  ModelConfig() : KindConfig("transformer") {}
  explicit ModelConfig(std::string_view kind_name) : KindConfig(kind_name) {}
  // "small", "bahdanau" ...; ConfigError with the choices.
  static ModelConfig of_preset(std::string_view name);

  template <typename V>
  void fields(V& v) {
    v("preset", preset, "a model from the papers to start from");
    KindConfig::fields(v);
  }

  // Tokens of each sequence that it reads or writes, or labels that it gives; what it does not know
  // is left alone.
  using Vocabularies = std::map<std::string, size_t>;
  void set_vocabularies(const Vocabularies& sizes);
};

std::unique_ptr<Model> make_model(const ModelConfig& config, Rng& rng);

}  // namespace attend
