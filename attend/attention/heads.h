// Between the layout of other libraries, [batch, heads, length, width], and rows.
#pragma once

#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// x [batch, heads, length, width], as PyTorch has it, to rows [batch x length, heads x width], as
// attention() takes them. Their packing is Packing::even(batch, length).
Tensor merge_heads(const Tensor& x);

// Rows [batch x length, heads x width] back to [batch, heads, length, width]. All sequences of the
// packing must have the same length; an Error names two that do not.
Tensor split_heads(const Tensor& rows, size_t heads, const Packing& packing);

}  // namespace attend
