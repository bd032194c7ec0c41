// Random tensors and comparisons for the tests of attention.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "attend/base/rng.h"
#include "attend/tensor/tensor.h"
#include "tests/errors.h"

namespace attend {

inline Tensor random_tensor(const Shape& shape, uint64_t stream, float deviation = 0.7f) {
  Tensor x = Tensor::empty(shape);
  fill_normal(x.span(), RandomStream(17, stream), 0.0f, deviation);
  return x;
}

inline void expect_values(const Tensor& actual, const std::vector<float>& expected,
                          float tolerance) {
  const std::vector<float> values = actual.to_vector();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], tolerance) << i;
}

// The central difference of loss() in one of the values it depends on.
template <typename Loss>
double slope(const Loss& loss, float& place, float step) {
  const float before = place;
  place = before + step;
  const double up = loss();
  place = before - step;
  const double down = loss();
  place = before;
  return (up - down) / (2.0 * double{step});
}

}  // namespace attend
