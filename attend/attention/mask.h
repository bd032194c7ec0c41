// Which query may attend to which key. `true` means attend. Additive biases are in bias.h.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "attend/kernels/attention.h"
#include "attend/tensor/packing.h"
#include "attend/tensor/shape.h"

namespace attend {

// Whether each pair may attend: [queries, keys], [heads, queries, keys] or [sequences, heads,
// queries, keys]. An extent of 1 broadcasts: [1, keys] masks keys for all queries, [queries, 1]
// masks queries. Otherwise queries and keys have at least the extent of the longest sequence; with
// key_lengths, as with a KeyValueCache, that is the longest key length in use. A larger table is
// fine; the rest is not read.
class PairMask {
 public:
  PairMask() = default;
  PairMask(const Shape& shape, std::vector<uint8_t> allowed);  // 0: masked

  // Whether there is one, its shape, and its elements, 0 for masked.
  bool defined() const { return allowed_ != nullptr; }
  const Shape& shape() const { return shape_; }
  const uint8_t* data() const { return allowed_->data(); }

 private:
  Shape shape_;
  std::shared_ptr<const std::vector<uint8_t>> allowed_;
};

// A pair is allowed if everything that is set allows it. The position p of query i among the keys
// is q_offset + i if that is set; otherwise the last query is at the last key. It may lie before
// the first key or after the last. Offsets and windows may have any value of their type.
struct Mask {
  bool causal = false;           // keys at p and before
  bool strictly_causal = false;  // keys before p only; the first query then sees nothing, unless
                                 // there is a prefix
  std::vector<int64_t> q_offset = {};  // position of the first query: one for each sequence, or one
                                       // for all; where empty, the last query is at the last key
  std::optional<int64_t> left = {};    // keys from p - left on
  std::optional<int64_t> right = {};   // keys up to p + right
  std::vector<int32_t> prefix = {};  // with causal or strictly_causal: keys at the start that every
                                     // query sees; one for each sequence, or one for all
  std::vector<int32_t> q_documents = {};  // with k_documents: only pairs of one document, by an
  std::vector<int32_t> k_documents = {};  // id for each row; a document's keys are in one run
  PairMask pairs = {};
};

// a + b and a - b, clamped to the range of the type.
inline int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}
// a - b, clamped to the range of the type.
inline int64_t saturating_subtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b > 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

// The position of each query among the keys of its sequence, of which there are key_counts; clamped
// to 64 bits.
std::vector<int64_t> query_positions(const Mask& mask, const Packing& queries,
                                     std::span<const int32_t> key_counts);

// Everything in the mask but `pairs`, as a range of keys for each query; empty ranges are [0, 0).
// Throws Error for negative windows and tables that do not fit.
std::vector<kernels::KeyRange> key_ranges(const Mask& mask, const Packing& queries,
                                          const Packing& keys, std::span<const int32_t> key_counts);

// How a table of pairs is read: steps of 0 broadcast. Throws ShapeError if it does not fit the
// queries and the longest key length in use.
struct PairSteps {
  size_t sequence, head, query;
};
PairSteps pair_steps(const Shape& shape, const char* what, size_t heads, const Packing& queries,
                     size_t longest_keys);

}  // namespace attend
