#include "attend/metrics/correlation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "attend/base/error.h"

namespace attend {
namespace {

void check_lengths_agree(std::span<const double> predicted, std::span<const double> gold) {
  if (predicted.size() == gold.size()) return;
  throw DataError("metrics: {} predicted numbers but {} gold ones; they belong together one by one",
                  predicted.size(), gold.size());
}

bool any_nan(std::span<const double> numbers) {
  return std::ranges::any_of(numbers, [](double x) { return std::isnan(x); });
}

bool all_same(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [&](double x) { return x == numbers.front(); });
}

// The numbers without their mean, scaled to length 1. They are divided by the largest first:
// squares of very large or small numbers would leave the range of a double.
std::vector<double> direction(std::span<const double> numbers) {
  const double mean =
      std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
  std::vector<double> centred;
  double largest = 0, squares = 0;
  for (const double x : numbers) {
    centred.push_back(x - mean);
    largest = std::max(largest, std::abs(centred.back()));
  }
  for (double& x : centred) {
    x /= largest;
    squares += x * x;
  }
  for (double& x : centred) x /= std::sqrt(squares);
  return centred;
}

std::vector<double> ranks(std::span<const double> numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return numbers[i]; });
  std::vector<double> found(numbers.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && numbers[order[end]] == numbers[order[begin]]) ++end;
    const double mean = static_cast<double>(begin + end - 1) / 2;
    for (size_t i = begin; i < end; ++i) found[order[i]] = mean;
  }
  return found;
}

template <typename Loss>
double mean_over(std::span<const double> predicted, std::span<const double> gold,
                 const Loss& loss) {
  check_lengths_agree(predicted, gold);
  double sum = 0;
  for (size_t i = 0; i < gold.size(); ++i) sum += loss(predicted[i] - gold[i]);
  return gold.empty() ? 0 : sum / static_cast<double>(gold.size());
}

}  // namespace

double pearson_correlation(std::span<const double> predicted, std::span<const double> gold) {
  check_lengths_agree(predicted, gold);
  if (any_nan(predicted) || any_nan(gold)) return std::numeric_limits<double>::quiet_NaN();
  if (gold.size() < 2 || all_same(predicted) || all_same(gold)) return 0;
  const std::vector<double> a = direction(predicted), b = direction(gold);
  return std::clamp(std::inner_product(a.begin(), a.end(), b.begin(), 0.0), -1.0, 1.0);
}

double spearman_correlation(std::span<const double> predicted, std::span<const double> gold) {
  check_lengths_agree(predicted, gold);
  if (any_nan(predicted) || any_nan(gold)) return std::numeric_limits<double>::quiet_NaN();
  return pearson_correlation(ranks(predicted), ranks(gold));
}

double mean_squared_error(std::span<const double> predicted, std::span<const double> gold) {
  return mean_over(predicted, gold, [](double difference) { return difference * difference; });
}

double mean_absolute_error(std::span<const double> predicted, std::span<const double> gold) {
  return mean_over(predicted, gold, [](double difference) { return std::abs(difference); });
}

}  // namespace attend
