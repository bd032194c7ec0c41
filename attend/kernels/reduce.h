// Sums, products and largest elements. Sums run over fixed chunks and are joined in order, so that
// they have the same bits on any number of threads; those to one number are held in double.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/kernels/rows.h"

namespace attend::kernels {

double sum(const float* x, size_t size);
double sum_of_squares(const float* x, size_t size);
double dot(const float* x, const float* y, size_t size);
inline double mean(const float* x, size_t size) {
  return size == 0 ? 0.0 : sum(x, size) / static_cast<double>(size);
}

// total[j] = sum_i x[i, j], (width), or total[j] += where `add`.
void sum_rows(Rows x, float* total, bool add = false);

// total[j] = sum_i x[i, j] y[i, j], (width), or += where `add`; x and y have one shape.
void multiply_sum_rows(Rows x, Rows y, float* total, bool add = false);

// total[i] = sum_j x[i, j], (count), or total[i] += where `add`.
void sum_columns(Rows x, float* total, bool add = false);

// total[i] = sum_j x[i, j] y[i, j], (count), or += where `add`; x and y have one shape.
void dot_rows(Rows x, Rows y, float* total, bool add = false);

// The largest of each row, (count); -inf of an empty row. NaN anywhere in a row gives NaN.
void max_rows(Rows x, float* largest);

// The place of the largest of each row, (count): the first of equals, the first NaN if there is
// one. Rows must not be empty.
void argmax_rows(Rows x, int32_t* place);

// Whether x holds neither NaN nor infinity.
bool all_finite(Rows x);

}  // namespace attend::kernels
