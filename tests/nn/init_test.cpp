#include "attend/nn/init.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/names.h"

namespace attend {
namespace {

struct Moments {
  double mean, deviation, largest;
};

Moments moments(Init init, const Shape& shape, float scale = 1.0f) {
  const Tensor x = Tensor::empty(shape);
  initialize(x, init, RandomStream(5, 0), scale);
  double sum = 0, squares = 0, largest = 0;
  for (const float value : x.to_vector()) {
    sum += value;
    squares += static_cast<double>(value) * value;
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  const double n = static_cast<double>(x.size());
  return {sum / n, std::sqrt(squares / n - sum / n * sum / n), largest};
}

TEST(Init, HasNames) {
  expect_names<Init>({"zeros", "ones", "uniform", "normal", "xavier_uniform", "xavier_normal",
                      "kaiming_uniform", "kaiming_normal", "fan_in", "orthogonal"});
}

TEST(Init, HasThePromisedSpread) {
  const Shape shape{200, 300};  // fan_out 200, fan_in 300
  EXPECT_EQ(moments(Init::kZeros, shape).largest, 0.0);
  EXPECT_EQ(moments(Init::kOnes, shape).mean, 1.0);
  EXPECT_NEAR(moments(Init::kNormal, shape, 0.02f).deviation, 0.02, 2e-4);
  EXPECT_NEAR(moments(Init::kUniform, shape, 0.1f).largest, 0.1, 1e-3);
  EXPECT_NEAR(moments(Init::kXavierUniform, shape).deviation, std::sqrt(2.0 / 500), 6e-4);
  EXPECT_NEAR(moments(Init::kXavierNormal, shape).deviation, std::sqrt(2.0 / 500), 6e-4);
  EXPECT_NEAR(moments(Init::kKaimingUniform, shape).deviation, std::sqrt(2.0 / 300), 8e-4);
  EXPECT_NEAR(moments(Init::kKaimingNormal, shape).deviation, std::sqrt(2.0 / 300), 8e-4);
  EXPECT_LE(moments(Init::kFanIn, shape).largest, 1.0 / std::sqrt(300.0));
}

TEST(Init, ConvolutionsCountTheirTaps) {
  EXPECT_LE(moments(Init::kFanIn, {8, 4, 9}).largest, 1.0 / 6.0);
  EXPECT_GT(moments(Init::kFanIn, {8, 4, 9}).largest, 0.9 / 6.0);
}

TEST(Init, OrthogonalRowsOrColumns) {
  for (const Shape& shape : {Shape{5, 8}, Shape{8, 5}}) {
    const Tensor x = Tensor::empty(shape);
    initialize(x, Init::kOrthogonal, RandomStream(5, 0));
    const size_t rows = shape[0], columns = shape[1], n = std::min(rows, columns);
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b < n; ++b) {
        double dot = 0;
        for (size_t t = 0; t < std::max(rows, columns); ++t) {
          dot += rows <= columns ? x.data()[a * columns + t] * x.data()[b * columns + t]
                                 : x.data()[t * columns + a] * x.data()[t * columns + b];
        }
        EXPECT_NEAR(dot, a == b ? 1.0 : 0.0, 1e-6);
      }
    }
  }
}

TEST(Init, ShapesAloneTakeNoMemoryAndTheSameStreams) {
  const Shape huge{1'000'000, 1'000'000'000};
  const size_t before = pool_statistics().bytes_in_use;
  Rng rng(1);
  {
    const ShapesOnly no_memory;
    Tensor x = parameter(huge, Init::kNormal, rng), one = constant_parameter(huge, 1.0f);
    EXPECT_EQ(x.shape(), huge);
    EXPECT_TRUE(x.needs_grad() && one.needs_grad());
    EXPECT_FALSE(x.allocated() || one.allocated());
    initialize(x, Init::kXavierUniform, rng.stream());
  }
  EXPECT_EQ(pool_statistics().bytes_in_use, before);
  EXPECT_EQ(rng.next(), 2u);
  EXPECT_EQ(constant_parameter({2}, 3.0f).to_vector(), (std::vector<float>{3, 3}));
}

TEST(Init, ParameterIsALeafAndTakesItsOwnStream) {
  Rng rng(3);
  const Tensor a = parameter({4}, Init::kNormal, rng), b = parameter({4}, Init::kNormal, rng);
  EXPECT_TRUE(a.needs_grad());
  EXPECT_NE(a.to_vector(), b.to_vector());
  EXPECT_EQ(rng.next(), 2u);
}

}  // namespace
}  // namespace attend
