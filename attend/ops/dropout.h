// Dropout on the tape. Off outside a TrainingScope, from which its randomness comes.
#pragma once

#include "attend/tensor/tensor.h"

namespace attend {

// Each element is zeroed with probability `chance`, the others are scaled by 1 / (1 - chance).
Tensor dropout(const Tensor& x, float chance);

// residual + dropout(x), in one pass.
Tensor dropout_add(const Tensor& x, const Tensor& residual, float chance);

}  // namespace attend
