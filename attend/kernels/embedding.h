// Look-up of table rows by number, and its gradient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace attend::kernels {

struct Embedding {
  std::span<const int32_t> ids;  // each in [0, vocab): see first_id_outside
  size_t vocab, width;
  float scale = 1.0f;
};

// y[i] = scale table[ids[i]].  table (vocab, width), y (ids, width).
void embedding(const Embedding& rows, const float* table, float* y);

// d_table[id] = the sum of scale dy[i] over the i with ids[i] == id, in the order of i; or += where
// `add`. Without `add` the whole table is written: zeros where no id occurs.
// dy (ids, width), d_table (vocab, width).
void embedding_backward(const Embedding& rows, const float* dy, float* d_table, bool add);

// The first i whose ids[i] is not in [0, vocab), or ids.size() if there is none.
size_t first_id_outside(std::span<const int32_t> ids, size_t vocab);

}  // namespace attend::kernels
