#include "attend/ops/linear.h"

#include "attend/base/error.h"
#include "attend/kernels/reduce.h"
#include "attend/ops/matrix.h"

namespace attend {
namespace {

void check(const Tensor& x, const Shape& weight, const Tensor& bias) {
  if (weight.rank() != 2 || x.rank() == 0 || x.width() != weight[1]) {
    throw ShapeError("linear: input {} does not fit weight {}, which is [out, in]", x.shape(),
                     weight);
  }
  if (bias.defined() && bias.shape() != Shape{weight[0]}) {
    throw ShapeError("linear: bias {} does not fit weight {}, which has {} outputs", bias.shape(),
                     weight, weight[0]);
  }
}

Tensor output_for(const Tensor& x, size_t out) {
  Shape shape = x.shape();
  shape.set(-1, out);
  return Tensor::empty(shape);
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  check(x, weight.shape(), bias);
  const size_t rows = x.rows(), in = weight.extent(1), out = weight.extent(0);
  Tensor y = output_for(x, out);

  // What the gradient of the activation is computed from: its input; for ReLU the output will do.
  const bool plain = activation == Activation::kIdentity;
  const bool keeps_input =
      !plain && activation != Activation::kRelu && any_needs_grad(std::vector{x, weight, bias});
  const Tensor kept = keeps_input ? Tensor::like(y) : y.detach();
  kernels::gemm(rows, out, in, matrix(x), matrix(weight, true), target(y),
                {.bias = bias.defined() ? bias.data() : nullptr,
                 .activation = activation,
                 .preactivation = {keeps_input ? kept.data() : nullptr, out}});

  return record(y, {x, weight, bias}, [=](const Tensor& dy, Grads& grads) {
    Tensor dz = dy;
    if (!plain) {
      dz = Tensor::like(dy);
      kernels::activate_backward(activation, kept.data(), dy.data(), dz.data(), dy.size(), false);
    }
    if (grads.wants(x)) {
      const Gradient dx = grads.of(x);
      kernels::gemm(rows, in, out, matrix(dz), matrix(weight), target(dx.tensor), into(dx));
    }
    if (grads.wants(weight)) {
      const Gradient dw = grads.of(weight);
      kernels::gemm(out, in, rows, matrix(dz, true), matrix(x), target(dw.tensor), into(dw));
    }
    if (grads.wants(bias)) {
      const Gradient db = grads.of(bias);
      kernels::sum_rows({dz.data(), rows, out, out}, db.data(), db.add);
    }
  });
}

Tensor linear(const Tensor& x, const kernels::PackedMatrix& weight, const Tensor& bias,
              Activation activation) {
  check(x, {weight.columns(), weight.rows()}, bias);
  if (any_needs_grad(std::vector{x, bias})) {
    throw ConfigError("linear: packed weights have no gradient; train the model before packing it");
  }
  Tensor y = output_for(x, weight.columns());
  kernels::gemm(x.rows(), matrix(x), weight, target(y),
                {.bias = bias.defined() ? bias.data() : nullptr, .activation = activation});
  return y;
}

}  // namespace attend
