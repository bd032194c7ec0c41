#include "attend/ops/reduce.h"

#include <vector>

#include "attend/kernels/elementwise.h"
#include "attend/kernels/reduce.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/rows.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

float inverse(size_t count) { return count == 0 ? 0.0f : 1.0f / static_cast<float>(count); }

Tensor scaled_sum(const Tensor& input, float factor) {
  const Tensor x = contiguous(input);
  Tensor y = Tensor::full({}, static_cast<float>(kernels::sum(x.data(), x.size()) * factor));
  return record(y, {x}, [x, factor](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    const float value = dy.item() * factor;
    if (dx.add) {
      kernels::add_scalar(dx.data(), value, dx.data(), x.size());
    } else {
      kernels::fill(value, dx.data(), x.size());
    }
  });
}

// Sums over the last axis.
Tensor sum_last(const Tensor& x, const Shape& shape) {
  Tensor y = Tensor::empty(shape);
  kernels::sum_columns(rows_of(x), y.data());
  return record(y, {x}, [x](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    const Tensor ones = Tensor::full({x.width()}, 1.0f);  // read again for each row: stride 0
    kernels::multiply_column_vector({ones.data(), x.rows(), x.width(), 0}, dy.data(),
                                    mutable_rows_of(dx.tensor), dx.add);
  });
}

// Sums over the middle of x seen as [before, at, after].
Tensor sum_middle(const Tensor& input, const Shape& shape, int axis) {
  const Tensor x = contiguous(input);
  Tensor y = Tensor::empty(shape);
  const Shape::Around a = x.shape().around(axis);
  for (size_t i = 0; i < a.before; ++i) {
    kernels::sum_rows(kernels::dense_rows(x.data() + i * a.at * a.after, a.at, a.after),
                      y.data() + i * a.after);
  }
  return record(y, {x}, [x, a](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    for (size_t i = 0; i < a.before; ++i) {
      // Stride 0: the same row of dy for each.
      kernels::copy_rows({dy.data() + i * a.after, a.at, a.after, 0},
                         kernels::dense_rows(dx.data() + i * a.at * a.after, a.at, a.after),
                         dx.add);
    }
  });
}

}  // namespace

Tensor sum(const Tensor& x) { return scaled_sum(x, 1.0f); }

Tensor mean(const Tensor& x) { return scaled_sum(x, inverse(x.size())); }

Tensor sum(const Tensor& x, int axis) {
  const size_t at = x.shape().axis(axis);
  std::vector<size_t> left;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (i != at) left.push_back(x.extent(static_cast<int>(i)));
  }
  return at + 1 == x.rank() ? sum_last(x, Shape(left)) : sum_middle(x, Shape(left), axis);
}

Tensor mean(const Tensor& x, int axis) { return scale(sum(x, axis), inverse(x.extent(axis))); }

}  // namespace attend
