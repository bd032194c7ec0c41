#include <cmath>

#include "attend/kernels/layer_norm.h"
#include "attend/kernels/rms_norm.h"
#include "tests/kernels/test_rows.h"

namespace attend::kernels {
namespace {

constexpr float kEps = 1e-5f;

// One layer or RMS norm in double: the forward, and the gradient of sum(dy y).
struct NormReference {
  bool centred;
  const TestRows &x, &gamma, &beta, &dy;
  std::vector<double> mean, rstd;
  std::vector<double> mean_g, mean_gu;  // of g = dy gamma, and of g unit

  NormReference(bool centred_, const TestRows& x_, const TestRows& gamma_, const TestRows& beta_,
                const TestRows& dy_)
      : centred(centred_), x(x_), gamma(gamma_), beta(beta_), dy(dy_) {
    const double n = static_cast<double>(x.width());
    for (size_t i = 0; i < x.count(); ++i) {
      double sum = 0, squares = 0;
      for (size_t j = 0; j < x.width(); ++j) sum += x(i, j);
      mean.push_back(centred ? sum / n : 0);
      for (size_t j = 0; j < x.width(); ++j) squares += std::pow(x(i, j) - mean[i], 2);
      rstd.push_back(1 / std::sqrt(squares / n + kEps));
      double g = 0, gu = 0;
      for (size_t j = 0; j < x.width(); ++j) {
        g += double{dy(i, j)} * gamma(0, j);
        gu += dy(i, j) * gamma(0, j) * unit(i, j);
      }
      mean_g.push_back(centred ? g / n : 0);
      mean_gu.push_back(gu / n);
    }
  }
  double unit(size_t i, size_t j) const { return (x(i, j) - mean[i]) * rstd[i]; }
  double y(size_t i, size_t j) const {
    return unit(i, j) * gamma(0, j) + (centred ? beta(0, j) : 0);
  }
  double dx(size_t i, size_t j) const {
    return rstd[i] * (dy(i, j) * gamma(0, j) - mean_g[i] - unit(i, j) * mean_gu[i]);
  }
  double dgamma(size_t j) const {
    double sum = 0;
    for (size_t i = 0; i < x.count(); ++i) sum += dy(i, j) * unit(i, j);
    return sum;
  }
  double dbeta(size_t j) const {
    double sum = 0;
    for (size_t i = 0; i < x.count(); ++i) sum += dy(i, j);
    return sum;
  }
};

TestRows ones(size_t width) {
  TestRows rows(1, width);
  for (size_t j = 0; j < width; ++j) rows(0, j) = 1.0f;
  return rows;
}

TestRows zeros(size_t width) {
  TestRows rows(1, width);
  for (size_t j = 0; j < width; ++j) rows(0, j) = 0.0f;
  return rows;
}

class Norm : public testing::TestWithParam<bool> {};  // with gamma and beta, or without
INSTANTIATE_TEST_SUITE_P(Affine, Norm, testing::Bool());

TEST_P(Norm, LayerNormEqualsTheReference) {
  for_each_shape([&](size_t count, size_t width) {
    TestRows x(count, width, 1), dy(count, width, 2);
    for (size_t j = 0; j < width && count > 1; ++j) x(1, j) += 50.0f;  // far from 0
    TestRows gamma = GetParam() ? TestRows(1, width, 3) : ones(width);
    TestRows beta = GetParam() ? TestRows(1, width, 4) : zeros(width);
    const float* gamma_or_null = GetParam() ? gamma.data() : nullptr;
    const NormReference r(true, x, gamma, beta, dy);
    const LayerNorm norm{gamma_or_null, GetParam() ? beta.data() : nullptr, kEps};

    TestRows y(count, width, 5, 1);
    std::vector<float> mean(count), rstd(count);
    layer_norm(x, norm, y, mean.data(), rstd.data());
    expect_rows_near(y, 1e-4,
                     [&](size_t i, size_t j) { return width > 1 ? r.y(i, j) : beta(0, j); });
    if (width < 3) return;  // the derivative is too steep to compare
    expect_near(mean, 1e-5, [&](size_t i) { return r.mean[i]; });
    expect_near(rstd, 1e-4, [&](size_t i) { return r.rstd[i]; });

    for (const bool add : {false, true}) {
      TestRows dx(count, width, 6, 2);
      const TestRows before = dx;
      std::vector<float> dgamma(width, 0.5f), dbeta(width, -0.5f);
      layer_norm_backward(x, dy, gamma_or_null, mean.data(), rstd.data(),
                          {dx, dgamma.data(), dbeta.data(), add});
      expect_rows_near(dx, 1e-4,
                       [&](size_t i, size_t j) { return r.dx(i, j) + (add ? before(i, j) : 0.0); });
      expect_near(dgamma, 1e-3, [&](size_t j) { return 0.5 + r.dgamma(j); });
      expect_near(dbeta, 1e-4, [&](size_t j) { return -0.5 + r.dbeta(j); });
    }
    TestRows dx(count, width), in_place = dy, y_in_place = x;
    layer_norm_backward(x, dy, gamma_or_null, mean.data(), rstd.data(), {dx});
    layer_norm_backward(x, in_place, gamma_or_null, mean.data(), rstd.data(), {in_place});
    layer_norm(y_in_place, norm, y_in_place, nullptr, nullptr);
    expect_rows_near(in_place, 0, [&](size_t i, size_t j) { return dx(i, j); });
    expect_rows_near(y_in_place, 0, [&](size_t i, size_t j) { return y(i, j); });
  });
}

TEST_P(Norm, RmsNormEqualsTheReference) {
  for_each_shape([&](size_t count, size_t width) {
    const TestRows x(count, width, 1), dy(count, width, 2), beta = zeros(width);
    TestRows gamma = GetParam() ? TestRows(1, width, 3) : ones(width);
    const float* gamma_or_null = GetParam() ? gamma.data() : nullptr;
    const NormReference r(false, x, gamma, beta, dy);

    TestRows y(count, width, 5, 1);
    std::vector<float> rstd(count);
    rms_norm(x, {gamma_or_null, kEps}, y, rstd.data());
    expect_rows_near(y, 1e-5, [&](size_t i, size_t j) { return r.y(i, j); });
    if (width < 3) return;
    expect_near(rstd, 1e-5, [&](size_t i) { return r.rstd[i]; });

    for (const bool add : {false, true}) {
      TestRows dx(count, width, 6, 2);
      const TestRows before = dx;
      std::vector<float> dgamma(width, 0.5f);
      rms_norm_backward(x, dy, gamma_or_null, rstd.data(), {dx, dgamma.data(), add});
      expect_rows_near(dx, 2e-5,
                       [&](size_t i, size_t j) { return r.dx(i, j) + (add ? before(i, j) : 0.0); });
      expect_near(dgamma, 1e-4, [&](size_t j) { return 0.5 + r.dgamma(j); });
    }
  });
}

TEST(Norm, SameBitsOnAnyThreads) {
  const TestRows x(2500, 129, 1), dy(2500, 129, 2);
  TestRows gamma(1, 129, 3);
  expect_same_bits_on_any_threads([&] {
    TestRows y(2500, 129), dx(2500, 129);
    std::vector<float> mean(2500), rstd(2500), sums(2 * 129);
    layer_norm(x, {gamma.data(), nullptr, kEps}, y, mean.data(), rstd.data());
    layer_norm_backward(x, dy, gamma.data(), mean.data(), rstd.data(),
                        {dx, sums.data(), sums.data() + 129});
    for (size_t j = 0; j < 129; ++j) sums.push_back(dx(2499, j) + y(2498, j));
    return sums;
  });
}

}  // namespace
}  // namespace attend::kernels
