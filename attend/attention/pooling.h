// A learned set of queries: pooling by attention, and induced points (Lee et al., 2019, "Set
// Transformer"). The feed-forward layers and norms around them are left to the model.
#pragma once

#include "attend/attention/multi_head.h"

namespace attend {

struct AttentionPoolingConfig {
  size_t queries = 1;              // learned queries for each sequence
  MultiHeadConfig attention = {};  // a set has no order: not causal, no window, no positions
};

// Each learned query attends to each sequence: n queries turn a sequence of any length into n rows,
// independent of the order of its rows.
struct AttentionPooling {
  Tensor queries;  // [queries, width]
  MultiHeadAttention attention;

  AttentionPooling() = default;
  AttentionPooling(const AttentionPoolingConfig& config, Rng& rng);

  // x [rows, source width] to [sequences x queries, width], with packing().
  Tensor operator()(const Tensor& x, const Packing& rows) const;
  // Of the result.
  Packing packing(size_t sequences) const { return Packing::even(sequences, queries.rows()); }

  void visit(Visitor& v);
};

struct InducedAttentionConfig {
  size_t points = 16;
  MultiHeadConfig attention = {};  // as in AttentionPoolingConfig
};

// A sequence attends to a few learned points that have attended to it: self-attention at the cost
// of rows x points instead of rows x rows.
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
