// Tokens as vectors that know where they stand: how attention and convolutions, which have no order
// of their own, begin.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "attend/attention/multi_head.h"
#include "attend/nn/embedding.h"
#include "attend/nn/positions.h"

namespace attend {

// How the model learns where a token stands: rows added to embeddings, or a part of attention.
enum class PositionScheme { kNone, kSinusoidal, kLearned, kAlibi, kT5, kShaw, kRotary };
std::string_view name_of(PositionScheme scheme);
Positions attention_positions(PositionScheme scheme);  // the part of attention, or none

struct PlacedEmbeddingConfig {
  PositionScheme scheme = PositionScheme::kSinusoidal;
  size_t concatenated =
      0;  // columns of positions put beside the embedding; 0: they are added to it
  size_t max_length = 1024;
  bool bounded = false;     // no position past max_length, whatever the scheme
  float deviation = 0.02f;  // of learned positions at first
  bool scaled = true;       // the table by sqrt(its width)
  float dropout = 0.0f;

  // None where any position will do.
  std::optional<size_t> positions() const;
};

// dropout(sqrt(width) table[id] + position), or the two side by side.
struct PlacedEmbedding {
  PlacedEmbeddingConfig config;
  Embedding table;  // perhaps shared with others
  SinusoidalPositions sinusoids;
  LearnedPositions learned;

  PlacedEmbedding() = default;
  PlacedEmbedding(const PlacedEmbeddingConfig& config, Embedding table, Rng& rng);
  PlacedEmbedding of(const Embedding& other, Rng& rng) const;  // the same for another table

  // `first` is the position of the first row of each sequence; empty: 0.
  Tensor operator()(const Tensor& ids, const Packing& packing,
                    std::span<const int32_t> first = {}) const;

  void visit(Visitor& v) {
    v("table", table);
    v("positions", learned);
  }
};

}  // namespace attend
