// One small model of each kind, untrained, as directories to do harm to.
#pragma once

#include "attend/models/causal_conv.h"
#include "attend/models/conv.h"
#include "attend/models/gpt.h"
#include "attend/models/lstm.h"
#include "attend/models/lstmn.h"
#include "tests/inspect/traces.h"

namespace attend::fuzz {

template <typename Config>
TextModel small_of_kind(const char* kind, void (*change)(Config&)) {
  ModelConfig config(kind);
  change(config.settings.as<Config>());
  return small_model(config);
}

inline TextModel small_rotary_model() {
  ModelConfig config = small_transformer_config();
  TransformerConfig& transformer = transformer_of(config);
  transformer.encoder_layers = transformer.decoder_layers = 1;
  transformer.positions = PositionScheme::kRotary;
  transformer.max_length = 32;
  return small_model(config);
}

inline std::vector<TextModel> small_models() {
  return {
      small_transformer_model(),
      small_rotary_model(),
      small_rnn_model("bahdanau"),
      small_rnn_model("vanilla"),
      small_of_kind<ConvConfig>("conv",
                                [](ConvConfig& c) {
                                  c.width = c.hidden = 8;
                                  c.encoder_layers = c.decoder_layers = 1;
                                  c.max_length = 32;
                                }),
      small_label_model(LabelPooling::kMean),
      small_of_kind<GptConfig>(
          "gpt", [](GptConfig& c) { c.width = 16, c.heads = 2, c.layers = 2, c.max_length = 32; }),
      small_of_kind<LstmConfig>("lstm",
                                [](LstmConfig& c) { c.embedding = c.hidden = 8, c.layers = 1; }),
      small_of_kind<LstmnModelConfig>("lstmn",
                                      [](LstmnModelConfig& c) { c.embedding = c.hidden = 8; }),
      small_of_kind<CausalConvConfig>(
          "causal_conv", [](CausalConvConfig& c) { c.width = c.skip_width = 8, c.layers = 2; })};
}

inline void save(const TextModel& model, const ModelDirectory& directory) {
  directory.create();
  model.save_description(directory);
  model.save_weights(directory.weights());
}

}  // namespace attend::fuzz
