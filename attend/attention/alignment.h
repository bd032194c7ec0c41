// One step of a decoder's attention in parts, for mechanisms that feed weights back into later
// steps. There is one query per sequence; numbers of (query, key) pairs are stored query after
// query, [pairs].
#pragma once

#include <span>
#include <vector>

#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// Which keys each query sees: query i sees those of source sources[i]. Several queries may share a
// source, as the hypotheses of a beam do.
struct Alignment {
  Packing keys;                 // the sources
  std::vector<size_t> sources;  // (queries)
  Packing pairs;                // the keys of each query's source

  Alignment() = default;
  explicit Alignment(const Packing& keys);  // query i sees source i
  Alignment(Packing keys, std::vector<size_t> sources);

  size_t queries() const { return sources.size(); }  // how many
  // Query i becomes what query parents[i] was.
  Alignment reordered(std::span<const size_t> parents) const;
};

// Additive scores with further features of each pair (Chorowski et al., 2015),
//   v.tanh(q + k + L f), [pairs].
// Nothing as large as [pairs, width] is kept for the gradient.
struct AlignmentScores {
  Tensor q;         // [queries, width]
  Tensor k;         // [key rows, width]
  Tensor vector;    // v [width]
  Tensor location;  // L [width, features]
  Tensor features;  // f [pairs, features]
};
// The scores, [pairs].
Tensor alignment_scores(const Alignment& at, const AlignmentScores& in);

// Softmax over the pairs of each query; x [pairs].
Tensor alignment_softmax(const Alignment& at, const Tensor& x);

// The sum of each query's weights [pairs] times values [key rows, width], [queries, width].
Tensor alignment_sum(const Alignment& at, const Tensor& weights, const Tensor& values);

// x [pairs] for the pairs of at.reordered(parents).
Tensor reorder_pairs(const Alignment& at, const Tensor& x, std::span<const size_t> parents);

}  // namespace attend
