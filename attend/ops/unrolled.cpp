#include "attend/ops/unrolled.h"

#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/reduce.h"
#include "attend/ops/matrix.h"
#include "attend/ops/rows.h"
#include "attend/ops/unrolled_rows.h"

namespace attend {

struct UnrolledLinear::Walk {
  Tensor weight, bias;
  UnrolledRows rows;
  kernels::PackedMatrix forward, backward;  // W^T, and W once a gradient comes
  Tensor x, dz;                             // [rows, in], [rows, out]

  size_t in() const { return weight.extent(1); }
  size_t out() const { return weight.extent(0); }

  Tensor multiply(const Tensor& input) const;
  void step_backward(size_t step, const Tensor& input, const Tensor& dy, Grads& grads);
  void finish(Grads& grads) const;
};

UnrolledLinear::UnrolledLinear(const Tensor& weight, const Tensor& bias, size_t rows) {
  if (weight.rank() != 2 || (bias.defined() && bias.shape() != Shape{weight.extent(0)})) {
    throw ShapeError("unrolled: weight {} is not [out, in], or bias {} not [out]", weight.shape(),
                     bias.defined() ? bias.shape().text() : "undefined");
  }
  const size_t in = weight.extent(1), out = weight.extent(0);
  walk_ = std::make_shared<Walk>(Walk{.weight = weight,
                                      .bias = bias,
                                      .rows = UnrolledRows(rows),
                                      .forward = {in, out, matrix(weight, true)}});
  start_ = record(Tensor::zeros({1}), {weight, bias},
                  [walk = walk_](const Tensor&, Grads& grads) { walk->finish(grads); });
  if (start_.needs_grad()) walk_->x = Tensor::empty({rows, in});
}

Tensor UnrolledLinear::operator()(const Tensor& x) const {
  if (x.rank() != 2 || x.width() != walk_->in()) {
    throw ShapeError("unrolled: input {} does not fit weight {}, which is [out, in]", x.shape(),
                     walk_->weight.shape());
  }
  Tensor y = walk_->multiply(x);
  if (!any_needs_grad(std::vector{x, start_})) return y;
  size_t step = 0;
  if (start_.needs_grad()) {
    step = walk_->rows.take(x.rows());
    const Tensor kept = walk_->x.slice_rows(walk_->rows.first(step), x.rows());
    kernels::copy_rows(rows_of(x), mutable_rows_of(kept));
  }
  return record(y, {x, start_},
                [walk = walk_, start = start_, x, step](const Tensor& dy, Grads& grads) {
                  walk->step_backward(step, x, dy, grads);
                  if (grads.wants(start)) grads.accumulator(start);
                });
}

Tensor UnrolledLinear::Walk::multiply(const Tensor& input) const {
  Tensor y = Tensor::empty({input.rows(), out()});
  kernels::gemm(input.rows(), matrix(input), forward, target(y),
                {.bias = bias.defined() ? bias.data() : nullptr});
  return y;
}

void UnrolledLinear::Walk::step_backward(size_t step, const Tensor& input, const Tensor& dy,
                                         Grads& grads) {
  if (grads.wants(input)) {
    if (backward.empty()) backward = {out(), in(), matrix(weight)};
    const Gradient dx = grads.of(input);
    kernels::gemm(input.rows(), matrix(dy), backward, target(dx.tensor), into(dx));
  }
  if (!x.defined()) return;
  if (!dz.defined()) dz = Tensor::empty({x.rows(), out()});
  kernels::copy(dy.data(), dz.data() + rows.first(step) * out(), dy.size());
  rows.mark(step);
}

// Over all steps at once: dW = dz^T x, db = sum of dz.
void UnrolledLinear::Walk::finish(Grads& grads) const {
  rows.clear_unmarked(dz);
  if (grads.wants(weight)) {
    const Gradient dw = grads.of(weight);
    kernels::gemm(out(), in(), rows.taken(), matrix(dz, true), matrix(x), target(dw.tensor),
                  into(dw));
  }
  if (grads.wants(bias)) {
    const Gradient db = grads.of(bias);
    kernels::sum_rows({dz.data(), rows.taken(), out(), out()}, db.data(), db.add);
  }
}

}  // namespace attend
