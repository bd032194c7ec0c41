// A small masked language model of words, with random weights.
#pragma once

#include "attend/models/bert.h"
#include "attend/models/text_model.h"

namespace attend {

inline constexpr size_t kFillPositions = 12;

// Words are "the cat sat on a mat and the dog ran".
inline TextModel filling(TokenizerKind kind = TokenizerKind::kWord, bool pair = false) {
  const std::vector<std::string> lines(20, "the cat sat on a mat and the dog ran");
  TextModel made;
  made.config = ModelConfig("bert");
  auto& config = made.config.settings.as<BertConfig>();
  config.width = 16, config.heads = 2, config.layers = 2, config.max_length = kFillPositions;
  config.init = 0.5f;  // so that candidates differ
  config.head.pair = pair;
  const auto tokenizer = train_tokenizer({.kind = kind, .vocabulary = 30, .mask = true}, lines);
  made.tokenizers["text"] = tokenizer;
  if (pair) made.tokenizers["pair"] = tokenizer;
  made.config.set_vocabularies({{"text", tokenizer->size()}});
  Rng rng(1);
  made.model = make_model(made.config, rng);
  return made;
}

}  // namespace attend
