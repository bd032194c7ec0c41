#include "attend/kernels/activations.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "tests/kernels/targets.h"
#include "tests/special_values.h"

namespace attend::kernels {
namespace {

double stable_sigmoid(double x) {
  return x > 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double normal_density(double x) {
  return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}
double gelu_tanh_exponent(double x) {
  return 2 * std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x);
}

double exact(Activation f, double x) {
  switch (f) {
    case Activation::kIdentity:
      return x;
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kGelu:
      return x * normal_cdf(x);
    case Activation::kGeluTanh:
      return x * stable_sigmoid(gelu_tanh_exponent(x));
    case Activation::kSilu:
      return x * stable_sigmoid(x);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return stable_sigmoid(x);
    case Activation::kSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case Activation::kExp:
      return std::exp(x);
  }
  return 0;
}

double exact_slope(Activation f, double x) {
  switch (f) {
    case Activation::kIdentity:
      return 1;
    case Activation::kRelu:
      return x > 0 ? 1 : 0;
    case Activation::kGelu:
      return normal_cdf(x) + x * normal_density(x);
    case Activation::kGeluTanh: {
      if (std::abs(x) > 100) return x > 0;
      const double s = stable_sigmoid(gelu_tanh_exponent(x));
      const double z = 2 * std::sqrt(2 * std::numbers::inv_pi) * (1 + 3 * 0.044715 * x * x);
      return s + x * s * stable_sigmoid(-gelu_tanh_exponent(x)) * z;
    }
    case Activation::kSilu:
      return stable_sigmoid(x) + x * stable_sigmoid(x) * stable_sigmoid(-x);
    case Activation::kTanh:
      return 4 * stable_sigmoid(2 * x) * stable_sigmoid(-2 * x);
    case Activation::kSigmoid:
      return stable_sigmoid(x) * stable_sigmoid(-x);
    case Activation::kSoftplus:
      return stable_sigmoid(x);
    case Activation::kExp:
      return std::exp(x);
  }
  return 0;
}

// What activations.h promises: |error| <= absolute + ulps * (spacing of floats at the exact value).
struct Bound {
  Activation f;
  double ulps, absolute, slope_ulps, slope_absolute;
};
constexpr double kTiny = 1e-36;  // what may become 0
const Bound kBounds[] = {
    {Activation::kIdentity, 0, 0, 0, 0},        {Activation::kRelu, 0, 0, 0, 0},
    {Activation::kGelu, 1, 1e-7, 1, 2e-7},      {Activation::kGeluTanh, 2, 1e-7, 2, 4e-7},
    {Activation::kSilu, 3, kTiny, 3, 2e-7},     {Activation::kTanh, 3, 0, 6, kTiny},
    {Activation::kSigmoid, 3, kTiny, 5, kTiny}, {Activation::kSoftplus, 3, kTiny, 3, kTiny},
    {Activation::kExp, 1.5, kTiny, 1.5, kTiny},
};

double ulp(double y) {
  const float a = std::max(std::abs(static_cast<float>(y)), std::numeric_limits<float>::min());
  return a > 3.4e38f ? 2.1e31 : std::nextafter(a, kInf) - static_cast<double>(a);
}

// Finite floats of every size and sign, and more of those where the functions bend.
std::vector<float> inputs() {
  std::vector<float> x = {0.0f, -0.0f, 1e-45f, -1e-45f, 88.7228f, -86.9f, -87.3f, 88.73f};
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 20011) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isfinite(value)) x.push_back(value);
  }
  for (int i = -100003; i <= 100003; ++i) x.push_back(static_cast<float>(i) * 1.3e-4f);
  return x;
}

struct Error {
  double excess = -1;  // in units of the bound
  float x = 0, y = 0;
};

void measure(Error& worst, float x, float y, double expected, double allowed) {
  if (std::abs(expected) > 3.4028235e38 && std::isinf(y) && (y > 0) == (expected > 0)) return;
  const double excess = std::abs(y - expected) - allowed;
  if (!(excess <= worst.excess) || worst.excess == -1) worst = {excess, x, y};
}

class Activations : public testing::TestWithParam<Bound> {};
INSTANTIATE_TEST_SUITE_P(All, Activations, testing::ValuesIn(kBounds), [](const auto& bound) {
  return std::to_string(static_cast<int>(bound.param.f));
});

TEST_P(Activations, ValueIsWithinTheStatedBound) {
  const Bound& bound = GetParam();
  const std::vector<float> x = inputs();
  for_each_target([&] {
    std::vector<float> y(x.size());
    activate(bound.f, x.data(), y.data(), x.size());
    Error worst;
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = exact(bound.f, x[i]);
      measure(worst, x[i], y[i], expected, bound.absolute + bound.ulps * ulp(expected));
    }
    EXPECT_LE(worst.excess, 0) << "x " << worst.x << " y " << worst.y << " exact "
                               << exact(bound.f, worst.x);
  });
}

TEST_P(Activations, SlopeIsWithinTheStatedBound) {
  const Bound& bound = GetParam();
  const std::vector<float> x = inputs();
  for_each_target([&] {
    std::vector<float> dx(x.size()), dy(x.size(), 1.0f);
    activate_backward(bound.f, x.data(), dy.data(), dx.data(), x.size(), false);
    Error worst;
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = exact_slope(bound.f, x[i]);
      measure(worst, x[i], dx[i], expected,
              bound.slope_absolute + bound.slope_ulps * ulp(expected));
    }
    EXPECT_LE(worst.excess, 0) << "x " << worst.x << " slope " << worst.y << " exact "
                               << exact_slope(bound.f, worst.x);
  });
}

TEST(TanhWithSlope, IsThatOfTheFunctions) {
  const std::vector<float> x = inputs();
  for_each_target([&] {
    std::vector<float> y(x), slope(x.size());
    tanh_with_slope(y.data(), y.data(), slope.data(), x.size());  // in place
    Error worst, worst_slope;
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact_y = exact(Activation::kTanh, x[i]);
      const double exact_dy = exact_slope(Activation::kTanh, x[i]);
      measure(worst, x[i], y[i], exact_y, 3 * ulp(exact_y));
      measure(worst_slope, x[i], slope[i], exact_dy, kTiny + 6 * ulp(exact_dy));
    }
    EXPECT_LE(worst.excess, 0) << "x " << worst.x << " y " << worst.y;
    EXPECT_LE(worst_slope.excess, 0) << "x " << worst_slope.x << " slope " << worst_slope.y;
  });
}

TEST_P(Activations, InfinityGivesTheLimitAndNaNStays) {
  const Activation f = GetParam().f;
  const auto limit = [](double far) {
    return static_cast<float>(far > 9e3 ? kInf : far < -9e3 ? -kInf : far);
  };
  for_each_target([&] {
    for (const float x : {-kInf, kInf, kNaN}) {
      const double far = std::copysign(1e4, x);
      // Every lane of a register and of the rest.
      const std::vector<float> at(19, x), dy(19, 1.0f);
      std::vector<float> y(19), dx(19);
      activate(f, at.data(), y.data(), at.size());
      activate_backward(f, at.data(), dy.data(), dx.data(), at.size(), false);
      for (size_t i = 0; i < at.size(); ++i) {
        if (std::isnan(x)) {
          EXPECT_TRUE(std::isnan(y[i]));
        } else {
          EXPECT_EQ(y[i], limit(exact(f, far)));
          EXPECT_EQ(dx[i] < 1e-30f ? 0 : dx[i], limit(exact_slope(f, far)));
        }
      }
    }
  });
}

TEST_P(Activations, AnySizeAndAlignmentInPlaceAndAdded) {
  const Activation f = GetParam().f;
  for_each_target([&] {
    for (const size_t size : {0, 1, 3, 8, 15, 16, 33, 16385}) {
      std::vector<float> x(size + 2, 7.0f), dx(size + 2, 0.5f), dy(size + 2, 2.0f);
      for (size_t i = 1; i <= size; ++i) x[i] = static_cast<float>(i % 17) * 0.3f - 2.0f;
      const std::vector<float> original = x;
      activate_backward(f, x.data() + 1, dy.data() + 1, dx.data() + 1, size, true);
      activate_backward(f, x.data() + 1, dy.data() + 1, dy.data() + 1, size, false);
      activate(f, x.data() + 1, x.data() + 1, size);
      for (size_t i = 1; i <= size; ++i) {
        const double at = original[i];
        ASSERT_NEAR(x[i], exact(f, at), 4e-6) << size << " " << i;
        ASSERT_NEAR(dy[i], 2 * exact_slope(f, at), 8e-6) << size << " " << i;
        ASSERT_NEAR(dx[i], 0.5 + 2 * exact_slope(f, at), 8e-6) << size << " " << i;
      }
      for (const size_t outside : {size_t{0}, size + 1}) {
        EXPECT_EQ(x[outside], 7.0f);
        EXPECT_EQ(dx[outside], 0.5f);
        EXPECT_EQ(dy[outside], 2.0f);
      }
    }
  });
}

}  // namespace
}  // namespace attend::kernels
