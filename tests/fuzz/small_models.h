// One small model of each kind, untrained, as directories to do harm to.
#pragma once

#include "attend/models/causal_conv.h"
#include "attend/models/conv.h"
#include "attend/models/gpt.h"
#include "attend/models/lstm.h"
#include "attend/models/lstmn.h"
#include "tests/inspect/traces.h"

namespace attend::fuzz {

inline ModelConfig small_conv_config() {
  ModelConfig config("conv");
  auto& conv = config.settings.as<ConvConfig>();
  conv.width = conv.hidden = 8;
  conv.encoder_layers = conv.decoder_layers = 1;
  conv.max_length = 32;
  return config;
}

inline ModelConfig small_positions_config(PositionScheme positions) {
  ModelConfig config = small_transformer_config();
  TransformerConfig& transformer = transformer_of(config);
  transformer.encoder_layers = transformer.decoder_layers = 1;
  transformer.positions = positions;
  transformer.max_length = 32;
  return config;
}

inline ModelConfig small_gpt_config() {
  ModelConfig config("gpt");
  auto& gpt = config.settings.as<GptConfig>();
  gpt.width = 16;
  gpt.heads = 2;
  gpt.layers = 2;
  gpt.max_length = 32;
  return config;
}

inline ModelConfig small_lstm_config() {
  ModelConfig config("lstm");
  auto& lstm = config.settings.as<LstmConfig>();
  lstm.embedding = lstm.hidden = 8;
  lstm.layers = 1;
  return config;
}

inline ModelConfig small_lstmn_config() {
  ModelConfig config("lstmn");
  auto& lstmn = config.settings.as<LstmnModelConfig>();
  lstmn.embedding = lstmn.hidden = 8;
  return config;
}

inline ModelConfig small_causal_conv_config() {
  ModelConfig config("causal_conv");
  auto& conv = config.settings.as<CausalConvConfig>();
  conv.width = conv.skip_width = 8;
  conv.layers = 2;
  return config;
}

inline std::vector<TextModel> small_models() {
  return {small_transformer_model(),
          small_model(small_positions_config(PositionScheme::kRotary)),
          small_rnn_model("bahdanau"),
          small_rnn_model("vanilla"),
          small_model(small_conv_config()),
          small_label_model(LabelPooling::kMean),
          small_model(small_gpt_config()),
          small_model(small_lstm_config()),
          small_model(small_lstmn_config()),
          small_model(small_causal_conv_config())};
}

inline void save(const TextModel& model, const ModelDirectory& directory) {
  directory.create();
  model.save_description(directory);
  model.save_weights(directory.weights());
}

}  // namespace attend::fuzz
