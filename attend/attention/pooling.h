// A learned set of queries: pooling by attention, and induced points (Lee et al., 2019, "Set
// Transformer"). The feed-forward layers and norms that the paper puts around each are the model's.
#pragma once

#include "attend/attention/multi_head.h"

namespace attend {

struct AttentionPoolingConfig {
  size_t queries = 1;              // how many learned rows look at each sequence
  MultiHeadConfig attention = {};  // a set has no order: not causal, no window, no positions
};

// Each learned query looks at each sequence: one makes a sequence one row, several make it a set of
// that many, whatever its length and whatever the order of its rows.
struct AttentionPooling {
  Tensor queries;  // [queries, width]
  MultiHeadAttention attention;

  AttentionPooling() = default;
  AttentionPooling(const AttentionPoolingConfig& config, Rng& rng);

  // x [rows, source width] to [sequences x queries, width]: the sequences of packing().
  Tensor operator()(const Tensor& x, const Packing& rows) const;
  Packing packing(size_t sequences) const { return Packing::even(sequences, queries.rows()); }

  void visit(Visitor& v);
};

struct InducedAttentionConfig {
  size_t points = 16;
  MultiHeadConfig attention = {};  // as in AttentionPoolingConfig
};

// A sequence looks at a few points that have looked at it: self-attention at a cost of rows x
// points instead of rows x rows.
struct InducedAttention {
  AttentionPooling points;
  MultiHeadAttention attention;

  InducedAttention() = default;
  InducedAttention(const InducedAttentionConfig& config, Rng& rng);

  // x [rows, width] to the same.
  Tensor operator()(const Tensor& x, const Packing& rows) const;

  void visit(Visitor& v);
};

}  // namespace attend
