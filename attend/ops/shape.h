// Ops that move values without changing them. Reshapes, splits and slices are views (tensor.h),
// which cost nothing, wherever the layout allows it.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend {

// x itself, or a copy if its rows are not adjacent.
Tensor contiguous(const Tensor& x);

// The same elements in another shape of equal size: a view of contiguous(x).
Tensor reshape(const Tensor& x, const Shape& shape);

// Elements [begin, begin + count) along an axis: a view along the first or the last.
Tensor slice(const Tensor& x, int axis, size_t begin, size_t count);

// Slices of the given sizes, which add up to the extent of the axis.
std::vector<Tensor> split(const Tensor& x, std::initializer_list<size_t> sizes, int axis);
std::vector<Tensor> split(const Tensor& x, std::span<const size_t> sizes, int axis);

// The parts joined along an axis; their other extents must be equal.
Tensor concat(std::initializer_list<Tensor> parts, int axis);
Tensor concat(std::span<const Tensor> parts, int axis);

// An empty tensor [0, width] that depends on `inputs`, which have no rows either: it is on the
// tape, so that an empty batch has gradients, which are zero.
Tensor no_rows(size_t width, std::span<const Tensor> inputs);

// x [m, n] to [n, m].
Tensor transpose(const Tensor& x);

// Axis i of the result is axis axes[i] of x: permute(x, {0, 2, 1, 3}) of [a, b, c, d] is [a, c, b,
// d]. Each axis occurs once; negative ones count from the end. Copies.
Tensor permute(const Tensor& x, std::initializer_list<int> axes);
Tensor permute(const Tensor& x, std::span<const int> axes);

}  // namespace attend
