// Ops that move values without changing them. Reshapes, splits and slices are views (tensor.h),
// free both ways, wherever the layout allows one.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend {

// x itself, or a copy of it where rows are a stride apart.
Tensor contiguous(const Tensor& x);

Tensor reshape(const Tensor& x, const Shape& shape);

// Elements [begin, begin + count) along an axis: a view along the first or the last.
Tensor slice(const Tensor& x, int axis, size_t begin, size_t count);

// Slices of the given sizes, which add up to the extent of the axis.
std::vector<Tensor> split(const Tensor& x, std::initializer_list<size_t> sizes, int axis);
std::vector<Tensor> split(const Tensor& x, std::span<const size_t> sizes, int axis);

// The parts one after another along an axis; their other extents are equal.
Tensor concat(std::initializer_list<Tensor> parts, int axis);
Tensor concat(std::span<const Tensor> parts, int axis);

// [0, width], made of `inputs` where these have no rows either: on the tape, so that an empty batch
// has gradients. They are zeros.
Tensor no_rows(size_t width, std::span<const Tensor> inputs);

// x [m, n] to [n, m].
Tensor transpose(const Tensor& x);

// Axis i of the result is axis axes[i] of x: permute(x, {0, 2, 1, 3}) of [a, b, c, d] is
// [a, c, b, d]. Every axis occurs once; negative ones count from the end. Makes a copy.
Tensor permute(const Tensor& x, std::initializer_list<int> axes);
Tensor permute(const Tensor& x, std::span<const int> axes);

}  // namespace attend
