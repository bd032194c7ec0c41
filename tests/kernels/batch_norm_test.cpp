#include "attend/kernels/batch_norm.h"

#include <cmath>

#include "tests/kernels/test_rows.h"

namespace attend::kernels {
namespace {

constexpr float kBatchEps = 1e-5f;

struct Column {
  double mean = 0, variance = 0;  // biased
};

std::vector<Column> columns(const TestRows& x) {
  std::vector<Column> result(x.width());
  const double n = static_cast<double>(x.count());
  for (size_t j = 0; j < x.width(); ++j) {
    for (size_t i = 0; i < x.count(); ++i) result[j].mean += x(i, j) / n;
    for (size_t i = 0; i < x.count(); ++i) {
      result[j].variance += std::pow(x(i, j) - result[j].mean, 2) / n;
    }
  }
  return result;
}

TEST(BatchNorm, TrainingEqualsTheReference) {
  for_each_shape([&](size_t count, size_t width) {
    if (count < 3) return;
    TestRows x(count, width, 1);
    const TestRows dy(count, width, 2);
    for (size_t i = 0; i < count && width > 0; ++i) x(i, 0) += 30.0f;  // far from 0
    TestRows gamma(1, width, 3), beta(1, width, 4), y(count, width, 5);
    const std::vector<Column> exact = columns(x);
    std::vector<float> mean(width), rstd(width), running_mean(width, 2.0f),
        running_variance(width, 3.0f);
    const RunningStatistics running{running_mean.data(), running_variance.data(), 0.1f};
    batch_norm_train(x, {gamma.data(), beta.data(), kBatchEps}, &running, y, mean.data(),
                     rstd.data());

    const double n = static_cast<double>(count);
    const auto unit = [&](size_t i, size_t j) {
      return (x(i, j) - exact[j].mean) / std::sqrt(exact[j].variance + kBatchEps);
    };
    expect_near(mean, 1e-5, [&](size_t j) { return exact[j].mean; });
    expect_near(running_mean, 1e-5, [&](size_t j) { return 1.8 + 0.1 * exact[j].mean; });
    expect_near(running_variance, 1e-5,
                [&](size_t j) { return 2.7 + 0.1 * exact[j].variance * n / (n - 1); });
    expect_rows_near(y, 1e-4,
                     [&](size_t i, size_t j) { return unit(i, j) * gamma(0, j) + beta(0, j); });

    std::vector<double> sum(width), sum_unit(width);
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < width; ++j) {
        sum[j] += dy(i, j);
        sum_unit[j] += dy(i, j) * unit(i, j);
      }
    }
    for (const bool add : {false, true}) {
      TestRows dx(count, width, 6, 1);
      const TestRows before = dx;
      std::vector<float> dgamma(width, 0.5f), dbeta(width, -0.5f);
      batch_norm_backward(x, dy, gamma.data(), mean.data(), rstd.data(),
                          {dx, dgamma.data(), dbeta.data(), add});
      expect_near(dgamma, 1e-4, [&](size_t j) { return 0.5 + sum_unit[j]; });
      expect_near(dbeta, 1e-4, [&](size_t j) { return -0.5 + sum[j]; });
      expect_rows_near(dx, 1e-4, [&](size_t i, size_t j) {
        const double slope = dy(i, j) - sum[j] / n - unit(i, j) * sum_unit[j] / n;
        return gamma(0, j) / std::sqrt(exact[j].variance + kBatchEps) * slope +
               (add ? before(i, j) : 0.0);
      });
    }
  });
}

TEST(BatchNorm, InferenceUsesTheGivenStatistics) {
  for_each_shape([&](size_t count, size_t width) {
    TestRows x(count, width, 1), mean(1, width, 2), variance(1, width, 3), gamma(1, width, 4);
    for (size_t j = 0; j < width; ++j) variance(0, j) += 2.5f;
    const TestRows before = x;
    batch_norm_infer(x, {gamma.data(), nullptr, kBatchEps}, mean.data(), variance.data(), x);
    expect_rows_near(x, 1e-5, [&](size_t i, size_t j) {
      return (before(i, j) - mean(0, j)) / std::sqrt(variance(0, j) + kBatchEps) * gamma(0, j);
    });
  });
}

TEST(BatchNorm, WithoutAffineOrRunningStatistics) {
  const TestRows x(20, 11, 1), dy(20, 11, 2);
  std::vector<float> one(11, 1.0f), zero(11, 0.0f), mean(11), rstd(11);
  TestRows y(20, 11), expected(20, 11), dx(20, 11), expected_dx(20, 11);
  batch_norm_train(x, {one.data(), zero.data(), kBatchEps}, nullptr, expected, mean.data(),
                   rstd.data());
  batch_norm_train(x, {.eps = kBatchEps}, nullptr, y, mean.data(), rstd.data());
  EXPECT_TRUE(y == expected);
  batch_norm_backward(x, dy, one.data(), mean.data(), rstd.data(), {expected_dx});
  batch_norm_backward(x, dy, nullptr, mean.data(), rstd.data(), {dx});
  EXPECT_TRUE(dx == expected_dx);
}

}  // namespace
}  // namespace attend::kernels
