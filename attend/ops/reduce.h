// Sums and means on the tape.
#pragma once

#include "attend/tensor/tensor.h"

namespace attend {

// Of all elements; a scalar.
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);

// Along one axis, which goes away. The mean of nothing is 0.
Tensor sum(const Tensor& x, int axis);
Tensor mean(const Tensor& x, int axis);

}  // namespace attend
