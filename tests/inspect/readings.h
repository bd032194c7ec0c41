// Small models, untrained, and a reading of each.
#pragma once

#include "attend/inspect/reading.h"
#include "tests/decode/text_model.h"

namespace attend {

inline const std::vector<std::string>& letters() {
  static const std::vector<std::string> lines = {"abcdefgh ij", "hgfedcba ji"};
  return lines;
}

inline TextModel small_model(const ModelConfig& config) {
  const auto tokenizer = train_tokenizer({.kind = TokenizerKind::kCharacter}, letters());
  TextModel made{config, nullptr, tokenizer, tokenizer};
  made.config.set_vocabularies(tokenizer->size(), tokenizer->size());
  Rng rng(1);
  made.model = make_model(made.config, rng);
  return made;
}

inline TextModel small_transformer_model() {
  return small_text_model(TokenizerKind::kCharacter, letters());
}

// Two layers of two heads on each side.
inline ModelConfig small_transformer_config() {
  ModelConfig config;
  config.transformer.width = 16;
  config.transformer.heads = 2;
  config.transformer.encoder_layers = config.transformer.decoder_layers = 2;
  return config;
}

inline TextModel small_weighting_model(Weighting weighting) {
  ModelConfig config = small_transformer_config();
  config.transformer.weighting = weighting;
  return small_model(config);
}

inline TextModel small_rnn_model(const std::string& preset) {
  ModelConfig config = ModelConfig::of_preset(preset);
  config.rnn.embedding = config.rnn.hidden = 12;
  return small_model(config);
}

}  // namespace attend
