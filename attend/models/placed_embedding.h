// Token embeddings with positions, for attention and convolutions, which do not know the order of
// tokens.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "attend/attention/multi_head.h"
#include "attend/nn/embedding.h"
#include "attend/nn/positions.h"

namespace attend {

// How positions are encoded: added to the embeddings, or inside attention.
enum class PositionScheme { kNone, kSinusoidal, kLearned, kAlibi, kT5, kShaw, kRotary };
std::string_view name_of(PositionScheme scheme);
Positions attention_positions(PositionScheme scheme);  // those inside attention, or kNone

struct PlacedEmbeddingConfig {
  PositionScheme scheme = PositionScheme::kSinusoidal;
  size_t concatenated = 0;  // columns of positions beside the embedding; 0: added to it
  size_t max_length = 1024;
  bool bounded = false;     // no position past max_length, with any scheme
  float deviation = 0.02f;  // of the initial values of learned positions
  bool scaled = true;       // embeddings are multiplied by sqrt(width)
  float dropout = 0.0f;

  // The number of positions; none: no limit.
  std::optional<size_t> positions() const;
};

// dropout(sqrt(width) table[id] + position), or the two side by side.
struct PlacedEmbedding {
  PlacedEmbeddingConfig config;
  Embedding table;  // may be shared with other layers
  SinusoidalPositions sinusoids;
  LearnedPositions learned;

  PlacedEmbedding() = default;
  PlacedEmbedding(const PlacedEmbeddingConfig& config, Embedding table, Rng& rng);
  PlacedEmbedding of(const Embedding& other, Rng& rng) const;  // the same for another table

  // ids [rows] to [rows, width]. `first` has the position of the first row of each sequence; empty:
  // 0.
  Tensor operator()(const Tensor& ids, const Packing& packing,
                    std::span<const int32_t> first = {}) const;

  void visit(Visitor& v) {
    v("table", table);
    v("positions", learned);
  }
};

}  // namespace attend
