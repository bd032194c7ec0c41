// Maxout (Goodfellow et al., 2013).
#pragma once

#include "attend/tensor/tensor.h"

namespace attend {

// The larger of two neighbouring columns: x [..., 2 n] to [..., n]. A gradient goes to the first of
// equals.
Tensor maxout(const Tensor& x);

}  // namespace attend
