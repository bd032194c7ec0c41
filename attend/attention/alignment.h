// One step of a decoder's attention in parts, for mechanisms whose weights go on to be inputs: one
// query for each sequence, and for each query one number a key, sequence after sequence.
#pragma once

#include <span>
#include <vector>

#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// Which keys each query sees: query i those of source sources[i]. Several may share a source, as
// the hypotheses of a beam do.
struct Alignment {
  Packing keys;                 // the sources
  std::vector<size_t> sources;  // (queries)
  Packing pairs;                // the keys of each query's source

  Alignment() = default;
  explicit Alignment(const Packing& keys);  // query i sees source i
  Alignment(Packing keys, std::vector<size_t> sources);

  size_t queries() const { return sources.size(); }
  // Query i becomes what query parents[i] was.
  Alignment reordered(std::span<const size_t> parents) const;
};

// Additive scores with what else is known of each pair (Chorowski et al., 2015),
//   v.tanh(q + k + L f), [pairs],
// of which nothing as large as [pairs, width] is kept for the gradient.
struct AlignmentScores {
  Tensor q;         // [queries, width]
  Tensor k;         // [key rows, width]
  Tensor vector;    // v [width]
  Tensor location;  // L [width, features]
  Tensor features;  // f [pairs, features]
};
Tensor alignment_scores(const Alignment& at, const AlignmentScores& in);

// Over the pairs of each query; x [pairs].
Tensor alignment_softmax(const Alignment& at, const Tensor& x);

// The sum of each query's weights [pairs] times values [key rows, width], [queries, width].
Tensor alignment_sum(const Alignment& at, const Tensor& weights, const Tensor& values);

// Numbers of the pairs [pairs] after `reordered`.
Tensor reorder_pairs(const Alignment& at, const Tensor& x, std::span<const size_t> parents);

}  // namespace attend
