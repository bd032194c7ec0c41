// Arithmetic on arrays, element by element. An output may be one of the inputs, but must not partly
// overlap one. `add` accumulates into the output instead of overwriting it, so that gradients need
// no functions of their own: d(a b) is multiply(dc, b, da, size, add).
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/kernels/rows.h"

namespace attend::kernels {

// c[i] = a[i] op b[i], or c[i] += where `add`.
void add(const float* a, const float* b, float* c, size_t size, bool add = false);
void subtract(const float* a, const float* b, float* c, size_t size, bool add = false);
void multiply(const float* a, const float* b, float* c, size_t size, bool add = false);
void divide(const float* a, const float* b, float* c, size_t size, bool add = false);

// The gradient of c = a / b towards b: db[i] = -dc[i] c[i] / b[i], or += where `add`.
struct DivideGradient {
  const float *b, *c, *dc;
  float* db;
  bool add = false;
};
void divide_backward(const DivideGradient& gradient, size_t size);

// y[i] = a x[i], or x[i] + b; or y[i] += where `add`.
void scale(float a, const float* x, float* y, size_t size, bool add = false);
void add_scalar(const float* x, float b, float* y, size_t size, bool add = false);

void fill(float value, float* y, size_t size);            // y[i] = value
void copy(const float* x, float* y, size_t size);         // y[i] = x[i]
void copy_rows(Rows x, MutableRows y, bool add = false);  // y = x, of the same count and width

// y[i] = mask[i] ? a[i] : b[i], or y[i] += where `add`. A null a or b stands for zeros, which gives
// the gradients: select(mask, dy, nullptr, da, ...) and select(mask, nullptr, dy, db, ...).
// Elements that are not selected have no influence, even if they are NaN.
void select(const int32_t* mask, const float* a, const float* b, float* y, size_t size,
            bool add = false);

// y[i, j] = x[i, j] op vector[j], or y[i, j] += where `add`. The gradient towards the vector of an
// addition is reduce.h's sum_rows; that of a product is multiply_sum_rows.
void add_row_vector(Rows x, const float* vector, MutableRows y, bool add = false);
void multiply_row_vector(Rows x, const float* vector, MutableRows y, bool add = false);

// y[i, j] = x[i, j] * factors[i], or y[i, j] += where `add`.
void multiply_column_vector(Rows x, const float* factors, MutableRows y, bool add = false);

}  // namespace attend::kernels
