#include "attend/ops/shape.h"

#include <algorithm>
#include <array>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
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

namespace {

using Steps = std::array<size_t, Shape::kMaxRank>;

// From one element to the next along each axis.
Steps steps_of(const Tensor& x) {
  Steps steps{};
  size_t step = 1;
  for (size_t axis = x.rank(); axis-- > 0;) {
    steps[axis] = step;
    step *= axis + 1 == x.rank() ? x.stride() : x.shape()[static_cast<int>(axis)];
  }
  return steps;
}

// to[i...] = or += from[...], where a step along axis a of `to` is a step along axes[a] of `from`.
// Rows of `to` are independent of each other.
void copy_permuted(const Tensor& from, const Tensor& to, std::span<const size_t> axes, bool add) {
  const Steps steps = steps_of(from);
  const size_t rank = to.rank(), width = to.width(), inner = steps[axes[rank - 1]];
  parallel_for(to.rows(), 1 + 16384 / (width + 1), [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      const float* x = from.data();
      size_t rest = row;
      for (size_t axis = rank - 1; axis-- > 0;) {
        const size_t extent = to.shape()[static_cast<int>(axis)];
        x += rest % extent * steps[axes[axis]];
        rest /= extent;
      }
      float* y = to.data() + row * to.stride();
      if (!add && inner == 1) {
        std::copy_n(x, width, y);
      } else if (!add) {
        for (size_t c = 0; c < width; ++c) y[c] = x[c * inner];
      } else {
        for (size_t c = 0; c < width; ++c) y[c] += x[c * inner];
      }
    }
  });
}

}  // namespace

Tensor permute(const Tensor& x, std::span<const int> order) {
  const size_t rank = x.rank();
  std::vector<size_t> axes, back(rank, rank);
  for (const int axis : order) {
    axes.push_back(x.shape().axis(axis));
    back[axes.back()] = axes.size() - 1;
  }
  if (axes.size() != rank || std::ranges::find(back, rank) != back.end()) {
    throw ShapeError("permute: axes {} of {}; name each of its {} axes once",
                     fmt::join(order, ", "), x.shape(), rank);
  }
  if (rank < 2) return x;
  Shape shape = x.shape();
  for (size_t axis = 0; axis < rank; ++axis) {
    shape.set(static_cast<int>(axis), x.shape()[static_cast<int>(axes[axis])]);
  }
  const Tensor y = Tensor::empty(shape);
  copy_permuted(x, y, axes, false);
  return record(y, {x}, [x, back](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    copy_permuted(dy, dx.tensor, back, dx.add);
  });
}

Tensor permute(const Tensor& x, std::initializer_list<int> axes) {
  return permute(x, std::span(axes.begin(), axes.size()));
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
