// Arithmetic on the tape. Binary ops take two tensors of one shape; add and multiply also take as
// the second a vector [width], which applies to each row.
#pragma once

#include "attend/tensor/tensor.h"

namespace attend {

Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor divide(const Tensor& a, const Tensor& b);

Tensor scale(const Tensor& x, float factor);
Tensor add_scalar(const Tensor& x, float value);

// mask ? a : b, element by element; mask int32, of the same shape. What is not chosen does not
// leak, forwards or backwards, not even NaN.
Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b);

}  // namespace attend
