#include "attend/models/model.h"

#include "attend/base/names.h"

namespace attend {
namespace {

constexpr Named<ModelKind> kKinds[] = {
    {ModelKind::kTransformer, "transformer"}, {ModelKind::kRnn, "rnn"}, {ModelKind::kConv, "conv"}};

struct Preset {
  std::string_view name;
  ModelKind kind;
};
constexpr Preset kPresets[] = {
    {"tiny", ModelKind::kTransformer}, {"small", ModelKind::kTransformer},
    {"base", ModelKind::kTransformer}, {"bahdanau", ModelKind::kRnn},
    {"luong", ModelKind::kRnn},        {"vanilla", ModelKind::kRnn},
    {"conv", ModelKind::kConv}};

}  // namespace

ModelKind model_kind_from_name(std::string_view name) {
  return value_from_name(kKinds, "model", name);
}

std::string_view name_of(ModelKind kind) { return name_from_value(kKinds, kind); }

void ModelConfig::set_vocabularies(size_t source, size_t target) {
  transformer.source_vocabulary = rnn.source_vocabulary = conv.source_vocabulary = source;
  transformer.target_vocabulary = rnn.target_vocabulary = conv.target_vocabulary = target;
}

std::string preset_names() {
  std::string names;
  for (const Preset& preset : kPresets) {
    if (!names.empty()) names += ", ";
    names += preset.name;
  }
  return names;
}

ModelConfig ModelConfig::of_preset(std::string_view name) {
  for (const Preset& preset : kPresets) {
    if (preset.name != name) continue;
    ModelConfig config;
    config.preset = name;
    config.kind = preset.kind;
    if (preset.kind == ModelKind::kTransformer) {
      config.transformer = TransformerConfig::preset(name);
    } else if (preset.kind == ModelKind::kConv) {
      config.conv = ConvConfig::preset(name);
    } else {
      config.rnn = RnnConfig::preset(name);
    }
    return config;
  }
  throw ConfigError("unknown preset '{}'; there are: {}", name, preset_names());
}

std::unique_ptr<Seq2Seq> make_model(const ModelConfig& config, Rng& rng) {
  if (config.kind == ModelKind::kRnn) return std::make_unique<RnnSeq2Seq>(config.rnn, rng);
  if (config.kind == ModelKind::kConv) return std::make_unique<ConvSeq2Seq>(config.conv, rng);
  return std::make_unique<Transformer>(config.transformer, rng);
}

}  // namespace attend
