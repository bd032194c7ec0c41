// Converts between packed rows and [batch, heads, length, width], the layout of other libraries.
#pragma once

#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// x [batch, heads, length, width], as in PyTorch, to rows [batch x length, heads x width], as
// attention() takes them. The packing is Packing::even(batch, length).
Tensor merge_heads(const Tensor& x);

// Rows [batch x length, heads x width] back to [batch, heads, length, width]. All sequences of the
// packing must have the same length; the ShapeError names two that do not.
Tensor split_heads(const Tensor& rows, size_t heads, const Packing& packing);

}  // namespace attend
