// An encoder inside another model: its kind, and the settings of that kind.
#pragma once

#include <memory>

#include "attend/models/model_config.h"

namespace attend {

// A kind of encoder and its settings.
struct EncoderConfig : KindConfig<encoder_kind_names> {
  EncoderConfig() : KindConfig("transformer") {}
  explicit EncoderConfig(std::string_view kind_name) : KindConfig(kind_name) {}
};

// Makes it for a vocabulary of so many tokens. It is made from the settings of a whole model,
// whatever that reads and writes: what they say of vocabularies is not used.
std::unique_ptr<SequenceEncoder> make_encoder(const EncoderConfig& config, size_t vocabulary,
                                              Rng& rng);

// The encoder of a model whose settings have one, for ModelKind::inner.
template <typename Config>
std::unique_ptr<InnerModel> encoder_inside(const AnyConfig& settings) {
  const EncoderConfig& encoder = settings.as<Config>().encoder;
  return std::make_unique<InnerModel>(InnerModel{encoder.kind.name, encoder.settings});
}

// A model with the encoder of another kind, for ModelKind::around.
template <typename Config>
std::unique_ptr<AnyConfig> around_encoder(std::string_view kind, const AnyConfig& settings) {
  if (model_kind(kind).make_encoder == nullptr) return nullptr;
  Config config;
  config.encoder = EncoderConfig(kind);
  config.encoder.settings = settings;
  if constexpr (requires { config.fit_pooling(); }) config.fit_pooling();
  return std::make_unique<AnyConfig>(config);
}

}  // namespace attend
