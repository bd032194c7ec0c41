#include "attend/kernels/glu.h"

#include <cmath>

#include "tests/kernels/test_rows.h"

namespace attend::kernels {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(GluKernel, GatesTheFirstHalfByTheSecond) {
  for_each_shape([](size_t count, size_t width) {
    const TestRows x(count, 2 * width, 1);
    TestRows y(count, width, 2);
    glu(x, y);
    expect_rows_near(y, 1e-6,
                     [&](size_t i, size_t j) { return x(i, j) * sigmoid(x(i, width + j)); });
  });
}

TEST(GluKernel, GradientReachesBothHalves) {
  for_each_shape([](size_t count, size_t width) {
    const TestRows x(count, 2 * width, 1), dy(count, width, 2), before(count, 2 * width, 3);
    for (const bool add : {false, true}) {
      TestRows dx = before;
      glu_backward(x, dy, dx, add);
      expect_rows_near(dx, 2e-6, [&](size_t i, size_t j) {
        const bool gate = j >= width;
        const double s = sigmoid(x(i, gate ? j : j + width));
        const double slope = gate ? x(i, j - width) * s * (1 - s) : s;
        return (add ? before(i, j) : 0.0) + dy(i, gate ? j - width : j) * slope;
      });
    }
  });
}

}  // namespace
}  // namespace attend::kernels
