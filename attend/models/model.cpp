#include "attend/models/model.h"

#include "attend/base/names.h"
#include "attend/base/printable.h"

namespace attend {
namespace {

constexpr Named<ModelKind> kKinds[] = {{ModelKind::kTransformer, "transformer"},
                                       {ModelKind::kRnn, "rnn"},
                                       {ModelKind::kConv, "conv"},
                                       {ModelKind::kLabel, "label"}};

struct Preset {
  std::string_view name;
  ModelKind kind;
};
constexpr Preset kPresets[] = {
    {"tiny", ModelKind::kTransformer}, {"small", ModelKind::kTransformer},
    {"base", ModelKind::kTransformer}, {"bahdanau", ModelKind::kRnn},
    {"luong", ModelKind::kRnn},        {"vanilla", ModelKind::kRnn},
    {"conv", ModelKind::kConv},        {"label", ModelKind::kLabel}};

template <typename Part, typename Config>
Encoder make_encoder(const Config& config, Rng& rng) {
  config.check();
  return Part(config, rng);
}

Encoder make_encoder(const ModelConfig& config, Rng& rng) {
  switch (config.label.encoder) {
    case EncoderKind::kRnn:
      return make_encoder<RnnEncoder>(config.rnn, rng);
    case EncoderKind::kConv:
      return make_encoder<ConvEncoder>(config.conv, rng);
    case EncoderKind::kTransformer:
      break;
  }
  return make_encoder<TransformerEncoder>(config.transformer, rng);
}

}  // namespace

ModelKind model_kind_from_name(std::string_view name) {
  return value_from_name(kKinds, "model", name);
}

std::string_view name_of(ModelKind kind) { return name_from_value(kKinds, kind); }

void ModelConfig::set_vocabularies(size_t source, size_t target) {
  transformer.source_vocabulary = rnn.source_vocabulary = conv.source_vocabulary = source;
  transformer.target_vocabulary = rnn.target_vocabulary = conv.target_vocabulary = target;
  label.target_vocabulary = target;
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
    } else if (preset.kind == ModelKind::kRnn) {
      config.rnn = RnnConfig::preset(name);
    }
    return config;
  }
  throw ConfigError("unknown preset '{}'; there are: {}", shown_name(name), preset_names());
}

std::unique_ptr<Seq2Seq> make_model(const ModelConfig& config, Rng& rng) {
  if (config.kind == ModelKind::kRnn) return std::make_unique<RnnSeq2Seq>(config.rnn, rng);
  if (config.kind == ModelKind::kConv) return std::make_unique<ConvSeq2Seq>(config.conv, rng);
  if (config.kind == ModelKind::kLabel) {
    return std::make_unique<LabelModel>(config.label, make_encoder(config, rng), rng);
  }
  return std::make_unique<Transformer>(config.transformer, rng);
}

}  // namespace attend
