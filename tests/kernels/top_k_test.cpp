#include "attend/kernels/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "tests/kernels/targets.h"

namespace attend::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void expect_top(const std::vector<float>& x, size_t rows, size_t width, size_t k) {
  std::vector<int32_t> ids(rows * k, 7);
  std::vector<float> values(rows * k, 7.0f);
  top_k({x.data(), rows, width, width}, k, ids.data(), values.data());
  for (size_t r = 0; r < rows; ++r) {
    const float* row = x.data() + r * width;
    std::vector<int32_t> order(width);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [row](int32_t a, int32_t b) { return row[a] > row[b]; });
    double sum = 0;
    for (size_t i = 0; i < width; ++i) sum += std::exp(double{row[i]});
    for (size_t i = 0; i < k; ++i) {
      const float value = row[order[i]];
      if (value == -kInfinity) {
        EXPECT_EQ(ids[r * k + i], -1);
        EXPECT_EQ(values[r * k + i], -kInfinity);
      } else {
        EXPECT_EQ(ids[r * k + i], order[i]) << r << " " << i;
        EXPECT_NEAR(values[r * k + i], value - std::log(sum), 2e-5);
      }
    }
  }
}

TEST(TopK, IsTheFirstOfTheSortedRow) {
  for_each_target([] {
    for (const size_t width : {1, 2, 7, 8, 16, 33, 100, 1001}) {
      std::vector<float> x(3 * width);
      fill_normal(x, RandomStream(3, width), 0.0f, 3.0f);
      for (const size_t k : {size_t{1}, size_t{2}, size_t{10}, width}) {
        if (k <= width) expect_top(x, 3, width, k);
      }
    }
  });
}

TEST(TopK, TakesTheLowerIndexAmongEqualsAndNothingFromEmptyRows) {
  for_each_target([] {
    std::vector<float> x(40, 1.0f);
    expect_top(x, 1, 40, 5);
    std::fill(x.begin(), x.end(), -kInfinity);
    x[17] = 0.5f;
    x[33] = 2.0f;
    expect_top(x, 1, 40, 5);
    x.assign(40, -kInfinity);
    expect_top(x, 1, 40, 3);
  });
}

TEST(TopK, IsTheSameOnAnyNumberOfThreads) {
  std::vector<float> x(64 * 997);
  fill_normal(x, RandomStream(4, 0), 0.0f, 3.0f);
  std::vector<std::vector<float>> all;
  for (const int threads : {1, 2, 4}) {
    const ThreadCountScope scope(threads);
    std::vector<int32_t> ids(64 * 6);
    std::vector<float> values(64 * 6);
    top_k({x.data(), 64, 997, 997}, 6, ids.data(), values.data());
    all.push_back(values);
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

}  // namespace
}  // namespace attend::kernels
