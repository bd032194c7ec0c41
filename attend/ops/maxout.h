// Maxout (Goodfellow et al., 2013).
#pragma once

#include "attend/tensor/tensor.h"

namespace attend {

// The larger of two neighbouring columns: x [..., 2 n] to [..., n]. On ties the gradient goes to
// the first.
Tensor maxout(const Tensor& x);

}  // namespace attend
