// Attention over an external memory, in one or several hops: end-to-end memory networks (Sukhbaatar
// et al., 2015), with one set of weights for all hops.
#pragma once

#include "attend/attention/attention.h"
#include "attend/nn/linear.h"

namespace attend {

struct MemoryConfig {
  size_t width = 0;         // of queries and of the result
  size_t memory_width = 0;  // of a slot; 0: width
  size_t slots = 0;         // of a learned table; 0: the memory is given at each call
  size_t hops = 1;
  size_t heads = 1;
  Score score = Score::kDot;  // one without learned parts of its own
};

// u is the query at first; a hop reads o = sum softmax(u.(A m)) (C m) over the slots m. Between
// hops u = H u + o, and the last gives u + o.
struct MemoryAttention {
  MemoryConfig config;
  std::string name;   // for a Recorder, to which each hop is a call
  Tensor table;       // [slots, memory_width], or undefined
  Linear key, value;  // A, C
  Linear onward;      // H, where there are several hops

  MemoryAttention() = default;
  MemoryAttention(const MemoryConfig& config, Rng& rng);

  // x [rows, width] to the same, over the learned table.
  Tensor operator()(const Tensor& x) const;
  // The same over given slots [slot rows, memory_width]; each sequence of queries reads its own.
  Tensor operator()(const Tensor& x, const Packing& queries, const Tensor& slots,
                    const Packing& memories) const;

  void visit(Visitor& v);
};

}  // namespace attend
