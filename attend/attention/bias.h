// Biases that depend on how far apart a query and a key are.
#pragma once

#include "attend/attention/attention.h"

namespace attend {

// Slopes of ALiBi (Press et al., 2022): 2^(-8/n), 2^(-16/n) ... for n heads a power of two; for
// others those of the power below, then every other one of the power above.
std::vector<float> alibi_slopes(size_t heads);

// -slope |distance|, for distances up to `farthest` in both directions.
RelativeBias alibi(size_t heads, size_t farthest);

// T5's buckets (Raffel et al., 2020): each small distance has its own bucket, larger ones share
// buckets that grow logarithmically, and all beyond `farthest` share the last.
struct T5Buckets {
  size_t count = 32;
  size_t farthest = 128;
  bool bidirectional = true;  // otherwise all keys ahead of the query share bucket 0

  size_t of(int64_t distance) const;  // of key position minus query position
};

// One learned value per bucket and head, table [buckets, heads], for distances up to `reach` in
// both directions.
RelativeBias t5_bias(const Tensor& table, const T5Buckets& buckets, size_t reach);

}  // namespace attend
