// Sums and means on the tape.
#pragma once

#include "attend/tensor/tensor.h"

namespace attend {

// Over all elements; the result is a scalar.
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);

// Along one axis, which is removed. The mean of no elements is 0.
Tensor sum(const Tensor& x, int axis);
Tensor mean(const Tensor& x, int axis);

}  // namespace attend
