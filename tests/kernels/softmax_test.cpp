#include "attend/kernels/softmax.h"

#include <cmath>
#include <limits>

#include "tests/kernels/test_rows.h"
#include "tests/special_values.h"

namespace attend::kernels {
namespace {

std::vector<double> exact_softmax(const TestRows& x, size_t i) {
  double largest = -kInf, sum = 0;
  for (size_t j = 0; j < x.width(); ++j) largest = std::max<double>(largest, x(i, j));
  std::vector<double> p(x.width());
  for (size_t j = 0; j < x.width(); ++j) sum += p[j] = std::exp(x(i, j) - largest);
  for (double& v : p) v /= sum;
  return p;
}

TEST(Softmax, EqualsTheReference) {
  for_each_shape([&](size_t count, size_t width) {
    TestRows x(count, width, 1);
    if (count > 2 && width > 1) {
      x(0, width - 1) = 1000.0f;  // large, at the end
      x(1, 0) = -kInf;
      for (size_t j = 0; j < width; ++j) x(2, j) -= 300.0f;
    }
    TestRows y(count, width, 2, 6), log_y(count, width, 3), in_place = x;
    softmax(x, y);
    log_softmax(x, log_y);
    softmax(in_place, in_place);
    for (size_t i = 0; i < count; ++i) {
      const std::vector<double> p = exact_softmax(x, i);
      for (size_t j = 0; j < width; ++j) {
        ASSERT_NEAR(y(i, j), p[j], 3e-7);
        ASSERT_EQ(in_place(i, j), y(i, j));
        if (p[j] > 1e-30) {
          ASSERT_NEAR(log_y(i, j), std::log(p[j]), 4e-6);
        }
      }
    }
    EXPECT_TRUE(y.frame_is_intact() && log_y.frame_is_intact() && in_place.frame_is_intact());
  });
}

TEST(Softmax, RowThatIsMaskedThroughoutGivesZeros) {
  for_each_shape([&](size_t count, size_t width) {
    TestRows x(count, width), y(count, width), log_y(count, width);
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < width; ++j) x(i, j) = -kInf;
    }
    softmax(x, y);
    log_softmax(x, log_y);
    expect_rows_near(y, 0, [](size_t, size_t) { return 0.0; });
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < width; ++j) ASSERT_EQ(log_y(i, j), -kInf);
    }
  });
}

TEST(Softmax, NaNIsNotHidden) {
  for_each_target([&] {
    for (const float others : {-kInf, 0.5f}) {
      for (size_t place = 0; place < 19; ++place) {
        TestRows x(1, 19), y(1, 19), log_y(1, 19);
        for (size_t j = 0; j < 19; ++j) x(0, j) = others;
        x(0, place) = std::numeric_limits<float>::quiet_NaN();
        softmax(x, y);
        log_softmax(x, log_y);
        for (size_t j = 0; j < 19; ++j) {
          EXPECT_TRUE(std::isnan(y(0, j)) && std::isnan(log_y(0, j))) << place << " " << j;
        }
      }
    }
  });
}

TEST(Softmax, BackwardEqualsTheReference) {
  for_each_shape([&](size_t count, size_t width) {
    const TestRows x(count, width, 1), dy(count, width, 2);
    TestRows y(count, width), log_y(count, width);
    softmax(x, y);
    log_softmax(x, log_y);
    for (const bool add : {false, true}) {
      TestRows dx(count, width, 3), log_dx = dx;
      const TestRows before = dx;
      softmax_backward(y, dy, dx, add);
      log_softmax_backward(log_y, dy, log_dx, add);
      std::vector<double> dot(count), sum(count);
      for (size_t i = 0; i < count; ++i) {
        for (size_t j = 0; j < width; ++j) {
          dot[i] += double{dy(i, j)} * y(i, j);
          sum[i] += dy(i, j);
        }
      }
      const auto old = [&](size_t i, size_t j) { return add ? double{before(i, j)} : 0.0; };
      expect_rows_near(
          dx, 2e-6, [&](size_t i, size_t j) { return old(i, j) + y(i, j) * (dy(i, j) - dot[i]); });
      expect_rows_near(log_dx, 1e-5, [&](size_t i, size_t j) {
        return old(i, j) + dy(i, j) - std::exp(double{log_y(i, j)}) * sum[i];
      });
    }
    TestRows in_place = dy, apart(count, width);
    softmax_backward(y, dy, apart, false);
    softmax_backward(y, in_place, in_place, false);
    expect_rows_near(in_place, 0, [&](size_t i, size_t j) { return apart(i, j); });
  });
}

}  // namespace
}  // namespace attend::kernels
