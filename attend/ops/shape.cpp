#include "attend/ops/shape.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/transpose.h"
#include "attend/ops/rows.h"
#include "attend/tensor/tape.h"

namespace attend {

Tensor contiguous(const Tensor& x) {
  if (x.contiguous()) return x;
  Tensor y = Tensor::like(x);
  kernels::copy_rows(rows_of(x), mutable_rows_of(y));
  return record(y, {x}, [x](const Tensor& dy, Grads& grads) { grads.pass(x, dy); });
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  const bool keeps_rows = shape.rank() > 0 && shape.width() == x.width();
  return (keeps_rows ? x : contiguous(x)).reshape(shape);
}

Tensor slice(const Tensor& x, int axis, size_t begin, size_t count) {
  const size_t at = x.shape().axis(axis);
  if (at == 0) return x.slice_rows(begin, count);
  if (at + 1 == x.rank()) return x.slice_columns(begin, count);
  const Shape::Around a = x.shape().around(axis);
  if (begin > a.at || count > a.at - begin) {
    throw ShapeError("slice: {} to {} are not within axis {} of {}", begin, begin + count, axis,
                     x.shape());
  }
  Shape shape = x.shape();
  shape.set(axis, count);
  const Tensor columns = contiguous(x).reshape({a.before, a.at * a.after});
  return contiguous(columns.slice_columns(begin * a.after, count * a.after)).reshape(shape);
}

std::vector<Tensor> split(const Tensor& x, std::span<const size_t> sizes, int axis) {
  size_t total = 0;
  for (const size_t size : sizes) total += size;
  if (total != x.extent(axis)) {
    throw ShapeError("split: sizes that add up to {} do not divide axis {} of {}", total, axis,
                     x.shape());
  }
  std::vector<Tensor> parts;
  size_t begin = 0;
  for (const size_t size : sizes) {
    parts.push_back(slice(x, axis, begin, size));
    begin += size;
  }
  return parts;
}

std::vector<Tensor> split(const Tensor& x, std::initializer_list<size_t> sizes, int axis) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}

Tensor concat(std::span<const Tensor> inputs, int axis) {
  if (inputs.empty()) throw ShapeError("concat: there is nothing to put together");
  Shape shape = inputs[0].shape();
  std::vector<Tensor> parts;
  size_t total = 0;
  for (const Tensor& part : inputs) {
    Shape others = part.shape();
    if (others.rank() == shape.rank()) others.set(axis, shape[axis]);
    if (others != shape) {
      throw ShapeError("concat: {} and {} differ in more than axis {}", shape, part.shape(), axis);
    }
    total += part.extent(axis);
    parts.push_back(contiguous(part));
  }
  shape.set(axis, total);
  const auto [before, at, after] = shape.around(axis);
  Tensor y = Tensor::empty(shape);

  // Every part is a block of columns of y seen as a matrix.
  const auto block = [axis, rows = before, columns = at * after, each = after](
                         const Tensor& whole, const Tensor& part, size_t begin) {
    return whole.reshape({rows, columns}).slice_columns(begin * each, part.extent(axis) * each);
  };
  size_t begin = 0;
  for (const Tensor& part : parts) {
    const Tensor to = block(y, part, begin);
    kernels::copy_rows(rows_of(part.reshape(to.shape())), mutable_rows_of(to));
    begin += part.extent(axis);
  }
  return record(y, std::span<const Tensor>(parts), [=](const Tensor& dy, Grads& grads) {
    size_t start = 0;
    for (const Tensor& part : parts) {
      grads.pass(part, block(dy, part, start));
      start += part.extent(axis);
    }
  });
}

Tensor concat(std::initializer_list<Tensor> parts, int axis) {
  return concat(std::span(parts.begin(), parts.size()), axis);
}

Tensor no_rows(size_t width, std::span<const Tensor> inputs) {
  const std::vector<Tensor> from(inputs.begin(), inputs.end());
  return record(Tensor::empty({0, width}), inputs, [from](const Tensor&, Grads& grads) {
    for (const Tensor& x : from) {
      if (grads.wants(x)) grads.accumulator(x);
    }
  });
}

Tensor transpose(const Tensor& x) {
  if (x.rank() != 2) throw ShapeError("transpose: {} is not a matrix", x.shape());
  Tensor y = Tensor::empty({x.extent(1), x.extent(0)});
  kernels::transpose(rows_of(x), mutable_rows_of(y));
  return record(y, {x}, [x](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    kernels::transpose(rows_of(dy), mutable_rows_of(dx.tensor), dx.add);
  });
}

}  // namespace attend
