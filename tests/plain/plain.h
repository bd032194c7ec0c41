// Plain tensors in double, for twins of ops written to be read: what a test compares with.
#pragma once

#include <cstddef>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend::plain {

struct Plain {
  Shape shape;
  std::vector<double> values;

  explicit Plain(const Shape& s) : shape(s), values(s.size(), 0.0) {}
  explicit Plain(const Tensor& x) : shape(x.shape()) {
    for (const float value : x.to_vector()) values.push_back(value);
  }

  size_t rows() const { return shape.rows(); }
  size_t width() const { return shape.width(); }
  double& operator()(size_t row, size_t column) { return values[row * width() + column]; }
  double operator()(size_t row, size_t column) const { return values[row * width() + column]; }
};

// f of each element.
template <typename F>
Plain map(const Plain& x, F&& f) {
  Plain y(x.shape);
  for (size_t i = 0; i < x.values.size(); ++i) y.values[i] = f(x.values[i]);
  return y;
}

// f(x, y) of each pair of elements.
template <typename F>
Plain zip(const Plain& x, const Plain& y, F&& f) {
  Plain z(x.shape);
  for (size_t i = 0; i < x.values.size(); ++i) z.values[i] = f(x.values[i], y.values[i]);
  return z;
}

}  // namespace attend::plain
