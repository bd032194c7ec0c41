// One small model of each kind, untrained, as directories to do harm to.
#pragma once

#include "tests/inspect/readings.h"

namespace attend::fuzz {

inline ModelConfig small_conv_config() {
  ModelConfig config;
  config.kind = ModelKind::kConv;
  config.conv.width = config.conv.hidden = 8;
  config.conv.encoder_layers = config.conv.decoder_layers = 1;
  config.conv.max_length = 32;
  return config;
}

inline ModelConfig small_label_config() {
  ModelConfig config = small_transformer_config();
  config.kind = ModelKind::kLabel;
  config.transformer.encoder_layers = 1;
  return config;
}

inline ModelConfig small_positions_config(PositionScheme positions) {
  ModelConfig config = small_transformer_config();
  config.transformer.encoder_layers = config.transformer.decoder_layers = 1;
  config.transformer.positions = positions;
  config.transformer.max_length = 32;
  return config;
}

inline std::vector<TextModel> small_models() {
  return {small_transformer_model(),
          small_model(small_positions_config(PositionScheme::kRotary)),
          small_rnn_model("bahdanau"),
          small_rnn_model("vanilla"),
          small_model(small_conv_config()),
          small_model(small_label_config())};
}

inline void save(const TextModel& model, const ModelDirectory& directory) {
  directory.create();
  model.save_description(directory);
  model.save_weights(directory.weights());
}

}  // namespace attend::fuzz
