// Arithmetic on the tape. Binary ops take two tensors of the same shape; the second argument of add
// and multiply may also be a vector [width], which applies to each row.
#pragma once

#include "attend/tensor/tensor.h"

namespace attend {

// Element by element; add and multiply broadcast a vector b.
Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor divide(const Tensor& a, const Tensor& b);

// x times a factor, and x plus a value.
Tensor scale(const Tensor& x, float factor);
Tensor add_scalar(const Tensor& x, float value);

// mask ? a : b, element by element; mask int32, of the same shape. Elements that are not chosen
// have no influence, forwards or backwards, even if they are NaN.
Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b);

}  // namespace attend
