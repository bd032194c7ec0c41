// A small model that reads and writes text, untrained.
#pragma once

#include "attend/models/text_model.h"

namespace attend {

inline TextModel small_text_model(TokenizerKind kind, const std::vector<std::string>& lines) {
  const auto tokenizer = train_tokenizer({.kind = kind, .vocabulary = 40}, lines);
  TextModel made;
  TransformerConfig& config = made.config.transformer;
  config.width = 16, config.heads = 2;
  config.encoder_layers = config.decoder_layers = 2;
  made.config.set_vocabularies(tokenizer->size(), tokenizer->size());
  Rng rng(1);
  made.model = make_model(made.config, rng);
  made.source = made.target = tokenizer;
  return made;
}

}  // namespace attend
