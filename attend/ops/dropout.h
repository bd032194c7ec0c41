// Dropout on the tape. It does nothing outside a TrainingScope, which provides the randomness.
#pragma once

#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// Each element is zeroed with probability `chance`, the others are scaled by 1 / (1 - chance).
Tensor dropout(const Tensor& x, float chance);

// residual + dropout(x), in one pass.
Tensor dropout_add(const Tensor& x, const Tensor& residual, float chance);

// Variational dropout (Gal and Ghahramani, 2016): all rows of a sequence share one mask. x
// [packing.rows(), width].
Tensor sequence_dropout(const Tensor& x, const Packing& packing, float chance);

// The mask of sequence_dropout, [sequences, width]: 0 or 1 / (1 - chance). Undefined where dropout
// does nothing.
Tensor dropout_mask(size_t sequences, size_t width, float chance);

}  // namespace attend
