// A matrix seen as rows: each row contiguous, rows any distance apart.
#pragma once

#include <cstddef>

namespace attend::kernels {

struct Rows {
  const float* data;
  size_t count, width;
  size_t stride;  // row i starts at data + i * stride

  const float* row(size_t i) const { return data + i * stride; }  // its first element
};

// The same to write.
struct MutableRows {
  float* data;
  size_t count, width;
  size_t stride;

  float* row(size_t i) const { return data + i * stride; }  // its first element
  // To read.
  operator Rows() const { return {data, count, width, stride}; }
};

// Rows that follow each other without a gap.
inline Rows dense_rows(const float* data, size_t count, size_t width) {
  return {data, count, width, width};
}
// The same to write.
inline MutableRows dense_rows(float* data, size_t count, size_t width) {
  return {data, count, width, width};
}

}  // namespace attend::kernels
