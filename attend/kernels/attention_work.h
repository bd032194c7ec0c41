// How attention is cut into chunks for the threads. Not for use outside attention*.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "attend/kernels/attention.h"

namespace attend::kernels {

// Some queries of a sequence, in all the heads that share a key head. Chunks are independent of
// each other, and a row's bits do not depend on which chunk it is in.
struct AttentionChunk {
  size_t sequence, kv_head;
  size_t query, queries;
};

// Chunks of at most `longest` queries, and enough of them to share; those with most work first. The
// cut depends on the sizes alone.
std::vector<AttentionChunk> attention_chunks(const AttentionSpec& spec, size_t longest);

// The pairs of a query and a key that a chunk looks at.
size_t pairs_of(const AttentionSpec& spec, const AttentionChunk& chunk);

// Whether a sequence's few queries, as a decoder has, all look at the same keys; attention_few
// takes such sequences.
bool has_few_rows(const AttentionSpec& spec, size_t sequence);
void attention_few(const AttentionSpec& spec, const AttentionInputs& in,
                   std::span<const size_t> sequences, MutableMatrix out, float* lse);

size_t longest_keys(const AttentionSpec& spec);  // of any sequence
size_t longest_queries(const AttentionSpec& spec);

// A buffer cut into pieces, each 64-byte aligned.
class Pieces {
 public:
  explicit Pieces(float* data) : next_(data) {}
  float* take(size_t floats) {
    float* piece = next_;
    next_ += padded(floats);
    return piece;
  }
  static size_t padded(size_t floats) { return (floats + 15) / 16 * 16; }

 private:
  float* next_;
};

}  // namespace attend::kernels
