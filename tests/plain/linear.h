// Plain twins of matrix products.
#pragma once

#include "tests/plain/plain.h"

namespace attend::plain {

// x W^T + b; no bias where it is null.
inline Plain linear(const Plain& x, const Plain& weight, const Plain* bias) {
  Shape shape = x.shape;
  shape.set(-1, weight.rows());
  Plain y(shape);
  for (size_t i = 0; i < y.rows(); ++i) {
    for (size_t o = 0; o < y.width(); ++o) {
      double sum = bias != nullptr ? bias->values[o] : 0.0;
      for (size_t k = 0; k < x.width(); ++k) sum += x(i, k) * weight(o, k);
      y(i, o) = sum;
    }
  }
  return y;
}

// The two last axes of a [..., m, n] swapped.
inline Plain transpose(const Plain& x) {
  const size_t m = x.shape[-2], n = x.shape[-1];
  Shape shape = x.shape;
  shape.set(-2, n);
  shape.set(-1, m);
  Plain y(shape);
  for (size_t i = 0; i < x.rows(); ++i) {
    for (size_t j = 0; j < n; ++j) y(i / m * n + j, i % m) = x(i, j);
  }
  return y;
}

// a [..., m, k] b [..., k, n].
inline Plain matmul(const Plain& a, const Plain& b) {
  const size_t m = a.shape[-2], k = a.shape[-1];
  Shape shape = a.shape;
  shape.set(-1, b.width());
  Plain c(shape);
  for (size_t i = 0; i < a.rows(); ++i) {
    for (size_t j = 0; j < b.width(); ++j) {
      for (size_t t = 0; t < k; ++t) c(i, j) += a(i, t) * b(i / m * k + t, j);
    }
  }
  return c;
}

}  // namespace attend::plain
