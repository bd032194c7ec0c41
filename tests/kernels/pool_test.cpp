// Pooling kernels on every SIMD target, at odd sizes and misaligned, against plain loops.
#include "attend/kernels/pool.h"

#include <gtest/gtest.h>

#include "attend/base/rng.h"
#include "tests/kernels/targets.h"
#include "tests/plain/conv.h"

namespace attend::kernels {
namespace {

using plain::Plain;

constexpr size_t kHeight = 7, kWidth = 9, kImages = 2;
const Places kPlaces = Places::images(kImages, kHeight, kWidth);

// Random values from one float past an aligned address on.
std::vector<float> random(size_t size, uint64_t stream) {
  std::vector<float> values(size + 1);
  fill_uniform(values, RandomStream(3, stream), -1.0f, 1.0f);
  return values;
}

Plain to_plain(const std::vector<float>& values, const Shape& shape) {
  Plain result(shape);
  std::copy(values.begin() + 1, values.end(), result.values.begin());
  return result;
}

void expect_plain_near(const std::vector<float>& actual, const Plain& expected) {
  for (size_t i = 0; i < expected.values.size(); ++i) {
    ASSERT_NEAR(actual[i + 1], expected.values[i], 1e-5) << "element " << i;
  }
}

// Pools with a window of 3 x 2, checks the values, and that the gradient is the adjoint: for these
// piecewise linear functions sum(dy * y(x)) = sum(dx * x).
void check_windows(plain::Pool kind, size_t channels) {
  const Pool2dOptions options{.kernel = {3, 2}, .stride = {2, 1}, .padding = 1};
  const Windows windows{{3, 2, 1, 1, 1}, {2, 1, 1, 1, 1}, kPlaces, Places::images(kImages, 4, 10)};
  const size_t x_size = kPlaces.rows() * channels, y_size = windows.to.rows() * channels;
  const std::vector<float> x = random(x_size, 0), dy = random(y_size, 1);
  std::vector<float> y(y_size + 1), choice(y_size + 1), dx = random(x_size, 2);
  const std::vector<float> before = dx;
  const Rows from = dense_rows(x.data() + 1, kPlaces.rows(), channels);
  const MutableRows to = dense_rows(dx.data() + 1, kPlaces.rows(), channels);
  if (kind == plain::Pool::kMax) {
    max_pool(windows, from, y.data() + 1, choice.data() + 1);
    max_pool_backward(windows, choice.data() + 1, dy.data() + 1, to, true);
  } else {
    const PoolCount count = kind == plain::Pool::kMean ? PoolCount::kInside : PoolCount::kAll;
    average_pool(windows, count, from, y.data() + 1);
    average_pool_backward(windows, count, dy.data() + 1, to, true);
  }
  const Plain px = to_plain(x, {kImages, kHeight, kWidth, channels});
  expect_plain_near(y, plain::pool2d(kind, px, options));
  double forward = 0, backward = 0;
  for (size_t i = 1; i <= y_size; ++i) forward += static_cast<double>(dy[i]) * y[i];
  for (size_t i = 1; i <= x_size; ++i) backward += static_cast<double>(dx[i] - before[i]) * x[i];
  EXPECT_NEAR(forward, backward, 1e-4);
}

void check_each(plain::Pool kind, size_t channels) {
  const size_t x_size = kPlaces.rows() * channels, y_size = kImages * channels;
  const std::vector<float> x = random(x_size, 0), dy = random(y_size, 1);
  std::vector<float> y(y_size + 1), choice(y_size + 1), dx = random(x_size, 2);
  const Rows from = dense_rows(x.data() + 1, kPlaces.rows(), channels);
  const MutableRows to = dense_rows(dx.data() + 1, kPlaces.rows(), channels);
  if (kind == plain::Pool::kMax) {
    max_each(kPlaces, from, y.data() + 1, choice.data() + 1);
    max_each_backward(kPlaces, choice.data() + 1, dy.data() + 1, to, false);
  } else {
    mean_each(kPlaces, from, y.data() + 1);
    mean_each_backward(kPlaces, dy.data() + 1, to, false);
  }
  const Plain px = to_plain(x, {kImages, kHeight, kWidth, channels});
  expect_plain_near(y, plain::pool_each(kind, px, plain::images_of(px)));
  double forward = 0, backward = 0;
  for (size_t i = 1; i <= y_size; ++i) forward += static_cast<double>(dy[i]) * y[i];
  for (size_t i = 1; i <= x_size; ++i) backward += static_cast<double>(dx[i]) * x[i];
  EXPECT_NEAR(forward, backward, 1e-4);
}

TEST(PoolKernel, EveryTargetMatchesPlainLoops) {
  for_each_target([] {
    for (const size_t channels : {1, 4, 7, 16, 37}) {
      SCOPED_TRACE(channels);
      for (const auto kind : {plain::Pool::kMax, plain::Pool::kMean, plain::Pool::kMeanOfAll}) {
        check_windows(kind, channels);
      }
      check_each(plain::Pool::kMax, channels);
      check_each(plain::Pool::kMean, channels);
    }
  });
}

}  // namespace
}  // namespace attend::kernels
