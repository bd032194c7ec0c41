#include "attend/models/model_config.h"

#include "attend/base/error.h"
#include "attend/base/printable.h"

namespace attend {

ModelConfig ModelConfig::of_preset(std::string_view name) {
  for (const ModelKind& known : model_kinds()) {
    for (const ModelPreset& preset : known.presets) {
      if (preset.name != name) continue;
      ModelConfig config(known.name);
      config.settings = preset.settings();
      config.preset = name;
      return config;
    }
  }
  throw ConfigError("unknown preset '{}'; there are: {}", shown_name(name), preset_names());
}

void ModelConfig::set_vocabularies(const Vocabularies& sizes) {
  const FieldList list = fields_of(settings);
  for (const auto& [column, size] : sizes) {
    for (const Field& field : list.fields) {
      if (field.path == column + "_vocabulary") field.set(std::vector{std::to_string(size)});
    }
  }
}

std::unique_ptr<Model> make_model(const ModelConfig& config, Rng& rng) {
  return model_kind(config.kind.name).make(config.settings, rng);
}

}  // namespace attend
