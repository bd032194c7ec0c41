// Plain twins of what works on rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/plain/plain.h"

namespace attend::plain {

inline Plain log_softmax(const Plain& x) {
  Plain y(x.shape);
  for (size_t i = 0; i < x.rows(); ++i) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (size_t j = 0; j < x.width(); ++j) largest = std::max(largest, x(i, j));
    for (size_t j = 0; j < x.width(); ++j) sum += std::exp(x(i, j) - largest);
    for (size_t j = 0; j < x.width(); ++j) y(i, j) = x(i, j) - largest - std::log(sum);
  }
  return y;
}

inline Plain softmax(const Plain& x) {
  return map(log_softmax(x), [](double value) { return std::exp(value); });
}

// (x - mean) / sqrt(variance + epsilon) of each row; without the mean for RMS norm.
inline Plain normalize_rows(const Plain& x, double epsilon, bool subtract_mean) {
  Plain y(x.shape);
  const double width = static_cast<double>(x.width());
  for (size_t i = 0; i < x.rows(); ++i) {
    double mean = 0, variance = 0;
    for (size_t j = 0; j < x.width() && subtract_mean; ++j) mean += x(i, j) / width;
    for (size_t j = 0; j < x.width(); ++j) variance += (x(i, j) - mean) * (x(i, j) - mean) / width;
    for (size_t j = 0; j < x.width(); ++j)
      y(i, j) = (x(i, j) - mean) / std::sqrt(variance + epsilon);
  }
  return y;
}

// x * weight + bias in each row.
inline Plain affine_rows(Plain x, const Plain& weight, const Plain* bias) {
  for (size_t i = 0; i < x.rows(); ++i) {
    for (size_t j = 0; j < x.width(); ++j) {
      x(i, j) = x(i, j) * weight.values[j] + (bias != nullptr ? bias->values[j] : 0.0);
    }
  }
  return x;
}

}  // namespace attend::plain
