// Plain twins of the weightings, straight from their definitions. -infinity masks.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "attend/attention/weightings.h"
#include "tests/plain/plain.h"

namespace attend::plain {

using Doubles = std::vector<double>;

inline constexpr double kMasked = -std::numeric_limits<double>::infinity();

// f of the scores that are not masked, 0 for the others.
template <typename F>
Plain weigh_rows(const Plain& scores, F&& f) {
  Plain y(scores.shape);
  for (size_t i = 0; i < scores.rows(); ++i) {
    Doubles allowed;
    for (size_t j = 0; j < scores.width(); ++j) {
      if (scores(i, j) != kMasked) allowed.push_back(scores(i, j));
    }
    if (allowed.empty()) continue;
    const Doubles weights = f(allowed, i);
    size_t next = 0;
    for (size_t j = 0; j < scores.width(); ++j) {
      if (scores(i, j) != kMasked) y(i, j) = weights[next++];
    }
  }
  return y;
}

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

inline Doubles softmax_row(const Doubles& x) {
  const double largest = *std::ranges::max_element(x);
  Doubles y;
  for (const double score : x) y.push_back(std::exp(score - largest));
  const double sum = std::accumulate(y.begin(), y.end(), 0.0);
  for (double& weight : y) weight /= sum;
  return y;
}

// max(x / power - t, 0)^power with the t, found by bisection, that makes them sum to one: sparsemax
// for power 1, 1.5-entmax for power 2.
inline Doubles simplex_row(const Doubles& x, double power) {
  Doubles y(x.size());
  double high = *std::ranges::max_element(x) / power, low = high - 1;
  for (int step = 0; step < 60; ++step) {
    const double t = (low + high) / 2;
    std::ranges::transform(x, y.begin(), [&](double s) {
      const double z = std::max(s / power - t, 0.0);
      return power == 1 ? z : z * z;
    });
    (std::accumulate(y.begin(), y.end(), 0.0) > 1 ? low : high) = t;
  }
  return y;
}

// Softmax of the first k places of a stable sort.
inline Doubles top_k_row(const Doubles& x, size_t k) {
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](size_t j) { return x[j]; });
  Doubles kept(x.size(), kMasked);
  for (size_t n = 0; n < std::min(k, x.size()); ++n) kept[order[n]] = x[order[n]];
  return softmax_row(kept);
}

inline Doubles one_hot(size_t size, size_t key) {
  Doubles y(size, 0.0);
  y[key] = 1;
  return y;
}

inline Doubles argmax_row(const Doubles& x) {
  return one_hot(x.size(), static_cast<size_t>(std::ranges::max_element(x) - x.begin()));
}

inline Doubles sample_row(const Doubles& x, double uniform) {
  const Doubles p = softmax_row(x);
  size_t key = 0;
  for (double sum = p[0]; uniform >= sum; sum += p[key]) ++key;
  return one_hot(x.size(), key);
}

// w_ij = p_ij sum_{l <= j} w_i-1,l prod_{l <= m < j} (1 - p_im), all of w_-1 at key 0.
inline Plain monotonic(const Plain& scores) {
  const Plain p = map(scores, sigmoid);
  Plain w(scores.shape);
  for (size_t i = 0; i < p.rows(); ++i) {
    for (size_t j = 0; j < p.width(); ++j) {
      for (size_t l = 0; l <= j; ++l) {
        double product = i > 0 ? w(i - 1, l) : (l == 0 ? 1.0 : 0.0);
        for (size_t m = l; m < j; ++m) product *= 1 - p(i, m);
        w(i, j) += p(i, j) * product;
      }
    }
  }
  return w;
}

// Stopping is certain or impossible.
inline Plain monotonic_hard(const Plain& scores) {
  return monotonic(map(scores, [](double s) { return s > 0 ? -kMasked : kMasked; }));
}

inline Plain weigh(const Plain& scores, const WeightingOptions& options) {
  const auto rows = [&](auto f) {
    return weigh_rows(scores, [&](const Doubles& x, size_t) { return f(x); });
  };
  const auto keys = [&](auto f) {
    return map(scores, [&](double s) { return s == kMasked ? 0.0 : f(s); });
  };
  switch (options.weighting) {
    case Weighting::kSoftmax:
      return rows(softmax_row);
    case Weighting::kSigmoid:
      return keys(sigmoid);
    case Weighting::kRelu:
      return keys([](double s) { return std::max(s, 0.0); });
    case Weighting::kIdentity:
      return keys([](double s) { return s; });
    case Weighting::kSparsemax:
      return rows([](const Doubles& x) { return simplex_row(x, 1); });
    case Weighting::kEntmax15:
      return rows([](const Doubles& x) { return simplex_row(x, 2); });
    case Weighting::kTopK:
      return rows([&](const Doubles& x) { return top_k_row(x, options.top_k); });
    case Weighting::kHardArgmax:
    case Weighting::kStraightThrough:
      return rows(argmax_row);
    case Weighting::kHardSample:
      return weigh_rows(scores, [&](const Doubles& x, size_t i) {
        return sample_row(x, options.random.uniform(options.first_row + i));
      });
    case Weighting::kMonotonic:
      return monotonic(scores);
    case Weighting::kMonotonicHard:
      return monotonic_hard(scores);
  }
  return scores;
}

}  // namespace attend::plain
