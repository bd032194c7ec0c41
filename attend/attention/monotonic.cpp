// Monotonic attention (Raffel et al., 2017): each query goes on from the key where the query before
// it stopped, and stops at key j with probability p_ij = sigmoid(score_ij). What runs past the last
// key is lost to all later queries.
#include <algorithm>
#include <limits>

#include "attend/attention/weighting_functions.h"
#include "attend/kernels/activations.h"
#include "attend/tensor/tensor.h"

namespace attend::weightings {
namespace {

// p_ij, and 1 - p_ij by itself: a difference would have lost it where a query is all but certain to
// stop. Sigmoid of -infinity is 0: the masked keys need no more care than that.
void stop_or_pass(const float* scores, float* stop, float* pass, size_t width) {
  for (size_t j = 0; j < width; ++j) pass[j] = -scores[j];
  kernels::activate(kernels::Activation::kSigmoid, pass, pass, width);
  kernels::activate(kernels::Activation::kSigmoid, scores, stop, width);
}

// Where the first query starts: all of it at key 0.
Tensor start_row(size_t width) {
  Tensor row = Tensor::zeros({width});
  if (width > 0) row.data()[0] = 1.0f;
  return row;
}

// What of row i - 1 is left where row i starts.
const float* row_before(kernels::Rows weights, size_t i, const Tensor& start) {
  return i == 0 ? start.data() : weights.row(i - 1);
}

}  // namespace

// With q_ij the probability that query i gets as far as key j,
//   q_ij = (1 - p_i,j-1) q_i,j-1 + weight_i-1,j
//   weight_ij = p_ij q_ij.
void monotonic(const Matrix& matrix) {
  const auto& [scores, weights, options] = matrix;
  const Tensor start = start_row(scores.width), passing = Tensor::empty({scores.width});
  const float* pass = passing.data();
  for (size_t i = 0; i < scores.count; ++i) {
    const float* before = row_before(weights, i, start);
    float* row = weights.row(i);
    stop_or_pass(scores.row(i), row, passing.data(), scores.width);
    float passed = 0;
    for (size_t j = 0; j < scores.width; ++j) {
      const float q = passed + before[j];
      row[j] *= q;
      passed = pass[j] * q;
    }
  }
}

// Both recursions backwards: keys from right to left, within rows from last to first.
//   dq_ij = p_ij dweight_ij + (1 - p_ij) dq_i,j+1, which also is what dweight_i-1,j gets from row i
//   dp_ij = q_ij (dweight_ij - dq_i,j+1).
void monotonic_backward(const MatrixGradient& g) {
  const size_t width = g.scores.width;
  const Tensor start = start_row(width), stop = Tensor::empty({width}),
               passing = Tensor::empty({width}), reach = Tensor::empty({width}),
               below = Tensor::zeros({width});
  float *p = stop.data(), *pass = passing.data(), *q = reach.data(), *dq = below.data();
  for (size_t i = g.scores.count; i-- > 0;) {
    const float *scores = g.scores.row(i), *before = row_before(g.weights, i, start);
    stop_or_pass(scores, p, pass, width);
    for (size_t j = 0; j < width; ++j) {
      q[j] = before[j] + (j > 0 ? pass[j - 1] * q[j - 1] : 0.0f);
    }
    float right = 0;  // dq_i,j+1
    for (size_t j = width; j-- > 0;) {
      float dscore = 0;
      if (scores[j] != -std::numeric_limits<float>::infinity()) {
        const float dweight = g.dweights.row(i)[j] + dq[j];
        dscore = q[j] * (dweight - right) * p[j] * pass[j];
        right = p[j] * dweight + pass[j] * right;
      }
      dq[j] = right;
      float& dx = g.dscores.row(i)[j];
      dx = g.add ? dx + dscore : dscore;
    }
  }
}

// Without chance: a query stops at the first key whose score is positive.
void monotonic_hard(const Matrix& matrix) {
  const auto& [scores, weights, options] = matrix;
  size_t at = 0;
  for (size_t i = 0; i < scores.count; ++i) {
    const float* row = scores.row(i);
    while (at < scores.width && !(row[at] > 0)) ++at;
    std::fill_n(weights.row(i), scores.width, 0.0f);
    if (at < scores.width) weights.row(i)[at] = 1.0f;
  }
}

}  // namespace attend::weightings
