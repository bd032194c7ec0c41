// Weightings of one row (papers: weightings.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attend/attention/weighting_functions.h"
#include "attend/kernels/softmax.h"

namespace attend::weightings {
namespace {

using Floats = std::span<float>;

// From the largest to the smallest. NaN comes first, so that it is neither lost nor upsets a sort.
bool comes_first(float a, float b) { return a > b || (std::isnan(a) && !std::isnan(b)); }

// Turns the scores into z = scale * (score - largest), for a weighting whose weights are a power of
// max(z - threshold, 0) that sum to one. The largest weight is at most one, so the threshold is at
// least -1: it depends on nothing but the z above that, which are returned in order.
Floats shifted_and_sorted(const Row& row, float scale) {
  const float largest = *std::ranges::min_element(row.values, comes_first);
  for (float& z : row.values) z = scale * (z - largest);
  const auto end =
      std::ranges::copy_if(row.values, row.spare.begin(), [](float z) { return !(z <= -1); }).out;
  const Floats candidates(row.spare.begin(), end);
  std::ranges::sort(candidates, comes_first);
  return candidates;
}

void choose(Floats values, size_t key) {
  std::ranges::fill(values, 0.0f);
  values[key] = 1.0f;
}

}  // namespace

void softmax(const Row& row) { kernels::softmax(one_row(row.values), one_row(row.values)); }

void softmax_backward(const RowGradient& row) {
  kernels::softmax_backward(one_row(row.weights), one_row(row.gradient), one_row(row.gradient),
                            false);
}

// weight = max(z - threshold, 0). The k largest z, those above the threshold, determine it by
//   sum z - k threshold = 1.
void sparsemax(const Row& row) {
  double sum = 0, threshold = -1, k = 0;
  for (const float z : shifted_and_sorted(row, 1.0f)) {
    const double next = (sum + z - 1) / (k + 1);
    if (z <= next) break;
    sum += z, k += 1, threshold = next;
  }
  for (float& z : row.values) z = std::max(static_cast<float>(z - threshold), 0.0f);
}

// dx = dy - (its mean), both among the keys with a weight.
void sparsemax_backward(const RowGradient& row) {
  double sum = 0, support = 0;
  for (size_t j = 0; j < row.weights.size(); ++j) {
    if (row.weights[j] != 0) sum += row.gradient[j], support += 1;
  }
  const float mean = static_cast<float>(sum / support);
  for (size_t j = 0; j < row.weights.size(); ++j) {
    row.gradient[j] = row.weights[j] != 0 ? row.gradient[j] - mean : 0.0f;
  }
}

// weight = max(z - threshold, 0)^2 with z half the score. The k largest z, those above the
// threshold, have a mean m and squared deviations from it d in all, and determine it by
//   k (m - threshold)^2 + d = 1.
void entmax15(const Row& row) {
  double mean = 0, deviations = 0, threshold = -1, k = 0;
  for (const float z : shifted_and_sorted(row, 0.5f)) {
    const double step = z - mean;
    k += 1, mean += step / k, deviations += step * (z - mean);
    if (deviations > 1) break;
    const double next = mean - std::sqrt((1 - deviations) / k);
    if (z <= next) break;
    threshold = next;
  }
  for (float& z : row.values) {
    z = std::max(static_cast<float>(z - threshold), 0.0f);
    z *= z;
  }
}

// dx = g (dy - sum(g dy) / sum(g)) with g = sqrt(weight).
void entmax15_backward(const RowGradient& row) {
  double sum = 0, total = 0;
  for (size_t j = 0; j < row.weights.size(); ++j) {
    const float g = row.spare[j] = std::sqrt(row.weights[j]);
    sum += g * row.gradient[j], total += g;
  }
  const float mean = static_cast<float>(sum / total);
  for (size_t j = 0; j < row.weights.size(); ++j) {
    row.gradient[j] = row.spare[j] * (row.gradient[j] - mean);
  }
}

void top_k(const Row& row) {
  const size_t k = row.options.top_k;
  if (k < row.values.size()) {
    std::ranges::copy(row.values, row.spare.begin());
    std::ranges::nth_element(row.spare, row.spare.begin() + static_cast<ptrdiff_t>(k - 1),
                             comes_first);
    const float last = row.spare[k - 1];
    const auto larger = [last](float x) { return comes_first(x, last); };
    size_t equals = k - static_cast<size_t>(std::ranges::count_if(row.values, larger));
    for (float& x : row.values) {
      if (larger(x)) continue;
      if (!comes_first(last, x) && equals > 0) {
        --equals;
      } else {
        x = -std::numeric_limits<float>::infinity();
      }
    }
  }
  softmax(row);
}

void hard_argmax(const Row& row) {
  const auto largest = std::ranges::max_element(row.values);
  choose(row.values, static_cast<size_t>(largest - row.values.begin()));
}

void hard_sample(const Row& row) {
  softmax(row);
  const double total = std::accumulate(row.values.begin(), row.values.end(), 0.0);
  const double drawn = total * row.options.random.uniform(row.options.first_row + row.index);
  size_t key = 0;
  for (double sum = row.values[0]; drawn >= sum && key + 1 < row.values.size();) {
    sum += row.values[++key];
  }
  choose(row.values, key);
}

void straight_through_backward(const RowGradient& row) {
  kernels::softmax(one_row(row.scores), one_row(row.spare));
  softmax_backward({row.scores, row.spare, row.gradient, {}});
}

}  // namespace attend::weightings
