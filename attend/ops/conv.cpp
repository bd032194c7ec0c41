#include "attend/ops/conv.h"

#include "attend/base/error.h"
#include "attend/kernels/conv.h"
#include "attend/kernels/reduce.h"
#include "attend/ops/conv_shape.h"
#include "attend/ops/matrix.h"
#include "attend/ops/rows.h"

namespace attend {
namespace {

using kernels::Convolution;
using kernels::WindowAxis;

void check(std::string_view op, const Tensor& x, const Tensor& weight, const Tensor& bias,
           size_t groups) {
  const size_t in = x.width(), out = weight.extent(0);
  if (groups == 0 || in % groups != 0 || out % groups != 0) {
    throw ShapeError("{}: {} groups do not divide the channels of input {} and weight {}", op,
                     groups, x.shape(), weight.shape());
  }
  if (weight.extent(1) != in / groups) {
    throw ShapeError("{}: input {} does not fit weight {}: with {} groups that takes {} channels",
                     op, x.shape(), weight.shape(), groups, weight.extent(1) * groups);
  }
  if (bias.defined() && bias.shape() != Shape{out}) {
    throw ShapeError("{}: bias {} does not fit weight {}, which has {} outputs", op, bias.shape(),
                     weight.shape(), out);
  }
}

// `packings` are those that the windows refer to.
Tensor convolve(const Convolution& conv, const Shape& y_shape, const Tensor& x,
                const Tensor& weight, const Tensor& bias,
                const std::vector<Packing>& packings = {}) {
  Tensor y = Tensor::empty(y_shape);
  conv_forward(conv, matrix(x), matrix(weight), bias.defined() ? bias.data() : nullptr, target(y));
  return record(y, {x, weight, bias}, [=, alive = packings](const Tensor& dy, Grads& grads) {
    if (grads.wants(x)) {
      const Gradient dx = grads.of(x);
      conv_backward_input(conv, matrix(dy), matrix(weight), target(dx.tensor), dx.add);
    }
    if (grads.wants(weight)) {
      const Gradient dw = grads.of(weight);
      conv_backward_weight(conv, matrix(x), matrix(dy), target(dw.tensor), dw.add);
    }
    if (grads.wants(bias)) {
      const Gradient db = grads.of(bias);
      kernels::sum_rows(rows_of(dy), db.data(), db.add);
    }
  });
}

}  // namespace

Sequences conv1d(const Tensor& x, const Packing& packing, const Tensor& weight, const Tensor& bias,
                 const Conv1dOptions& options) {
  check_sequences("conv1d", x, packing);
  if (weight.rank() != 3) {
    throw ShapeError("conv1d: weight {} is not [out, in / groups, kernel] for input {}",
                     weight.shape(), x.shape());
  }
  check("conv1d", x, weight, bias, options.groups);
  const WindowAxis axis{weight.extent(2), options.stride, options.dilation, options.left,
                        options.right};
  check_window("conv1d", axis);
  const Packing to = packing_of_windows(packing, axis);
  const Convolution conv{x.width(), weight.extent(0), options.groups,
                         windows_over(packing, to, axis)};
  return {convolve(conv, {to.rows(), conv.out}, x, weight, bias, {packing, to}), to};
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Conv2dOptions& options) {
  check_images("conv2d", x);
  if (weight.rank() != 4) {
    throw ShapeError("conv2d: weight {} is not [out, in / groups, height, width] for input {}",
                     weight.shape(), x.shape());
  }
  check("conv2d", x, weight, bias, options.groups);
  const auto& [stride, padding, dilation, groups] = options;
  const WindowAxis vertical{weight.extent(2), stride.height, dilation.height, padding.height,
                            padding.height};
  const WindowAxis horizontal{weight.extent(3), stride.width, dilation.width, padding.width,
                              padding.width};
  check_window("conv2d", vertical);
  check_window("conv2d", horizontal);
  const Convolution conv{x.width(), weight.extent(0), groups,
                         windows_over_images("conv2d", x, vertical, horizontal)};
  const kernels::Places& to = conv.windows.to;
  return convolve(conv, {to.count, to.height, to.width, conv.out}, x, weight, bias);
}

}  // namespace attend
