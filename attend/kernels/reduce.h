// Sums, and whether values are finite. Sums run over fixed chunks and are joined in order, so that
// they have the same bits for any number of threads; sums to one number are in double.
#pragma once

#include <cstddef>

#include "attend/kernels/rows.h"

namespace attend::kernels {

double sum(const float* x, size_t size);  // of all elements

// total[j] = sum_i x[i, j], (width), or total[j] += where `add`.
void sum_rows(Rows x, float* total, bool add = false);

// total[j] = sum_i x[i, j] y[i, j], (width), or += where `add`; x and y have one shape.
void multiply_sum_rows(Rows x, Rows y, float* total, bool add = false);

// total[i] = sum_j x[i, j], (count), or total[i] += where `add`.
void sum_columns(Rows x, float* total, bool add = false);

// total[i] = sum_j x[i, j] y[i, j], (count), or += where `add`; x and y have one shape.
void dot_rows(Rows x, Rows y, float* total, bool add = false);

// Whether x holds neither NaN nor infinity.
bool all_finite(Rows x);

}  // namespace attend::kernels
