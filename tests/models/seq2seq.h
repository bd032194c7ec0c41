// What tests of models that write from a source start from.
#pragma once

#include "attend/models/transformer.h"
#include "tests/models/generators.h"

namespace attend {

inline Batch some_sources(const std::vector<int32_t>& lengths, uint64_t seed) {
  return {"source", some_tokens(lengths, kSourceTokens, seed)};
}

inline TransformerConfig small_transformer() {
  TransformerConfig c;
  c.source_vocabulary = kSourceTokens;
  c.target_vocabulary = kTargetTokens;
  c.width = 16, c.heads = 2, c.feed_forward = 24;
  c.encoder_layers = c.decoder_layers = 2;
  return c;
}

}  // namespace attend
