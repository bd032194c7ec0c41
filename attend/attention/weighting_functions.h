// The weightings themselves, forwards and backwards, as weightings.cpp registers them. Not for use
// outside attention/.
#pragma once

#include <span>

#include "attend/attention/weightings.h"
#include "attend/kernels/activations.h"
#include "attend/kernels/rows.h"

namespace attend::weightings {

// One query and the keys it may look at, at least one: the masked ones have been left out, so that
// no weighting of a row has to know of them.
struct Row {
  std::span<float> values;  // the scores, to become the weights
  std::span<float> spare;   // as many floats to work with
  const WeightingOptions& options;
  size_t index;
};

struct RowGradient {
  std::span<const float> scores, weights;
  std::span<float> gradient;  // of the weights, to become that of the scores
  std::span<float> spare;
};

// As the row kernels take it.
inline kernels::MutableRows one_row(std::span<float> x) {
  return kernels::dense_rows(x.data(), 1, x.size());
}
inline kernels::Rows one_row(std::span<const float> x) {
  return kernels::dense_rows(x.data(), 1, x.size());
}

void softmax(const Row& row);
void softmax_backward(const RowGradient& row);  // from the weights: for top k as well

void sparsemax(const Row& row);
void sparsemax_backward(const RowGradient& row);

void entmax15(const Row& row);
void entmax15_backward(const RowGradient& row);

void top_k(const Row& row);
void hard_argmax(const Row& row);
void hard_sample(const Row& row);
void straight_through_backward(const RowGradient& row);

// Each key for itself.
template <kernels::Activation kFunction>
void activate(const Row& row) {
  kernels::activate(kFunction, row.values.data(), row.values.data(), row.values.size());
}

template <kernels::Activation kFunction>
void activate_backward(const RowGradient& row) {
  kernels::activate_backward(kFunction, row.scores.data(), row.gradient.data(), row.gradient.data(),
                             row.gradient.size(), false);
}

// All queries and all keys, for a weighting where a row depends on the one before it.
struct Matrix {
  kernels::Rows scores;
  kernels::MutableRows weights;
  const WeightingOptions& options;
};

struct MatrixGradient {
  kernels::Rows scores, weights, dweights;
  kernels::MutableRows dscores;
  bool add;  // to dscores, or overwrite it
};

void monotonic(const Matrix& matrix);
void monotonic_backward(const MatrixGradient& gradient);
void monotonic_hard(const Matrix& matrix);

}  // namespace attend::weightings
