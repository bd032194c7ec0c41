#include "attend/ops/pool.h"

#include "attend/base/error.h"
#include "attend/kernels/pool.h"
#include "attend/ops/conv_shape.h"
#include "attend/ops/rows.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

using kernels::Places;
using kernels::PoolCount;
using kernels::WindowAxis;
using kernels::Windows;

using Packings = std::vector<Packing>;  // those that windows or places refer to

// Where each maximum came from, kept only if a gradient will ask.
Tensor choices(const Tensor& x, const Tensor& y) {
  return any_needs_grad(std::span(&x, 1)) ? Tensor::like(y) : Tensor();
}

float* choice_or_null(const Tensor& x) { return x.defined() ? x.data() : nullptr; }

Tensor max_windows(const Windows& windows, const Shape& shape, const Tensor& x,
                   const Packings& packings = {}) {
  Tensor y = Tensor::empty(shape);
  const Tensor choice = choices(x, y);
  kernels::max_pool(windows, rows_of(x), y.data(), choice_or_null(choice));
  return record(y, {x}, [=, alive = packings](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    kernels::max_pool_backward(windows, choice.data(), dy.data(), mutable_rows_of(dx.tensor),
                               dx.add);
  });
}

struct MeanWindows {
  Windows windows;
  PoolCount count;
};

Tensor mean_windows(const MeanWindows& mean, const Shape& shape, const Tensor& x,
                    const Packings& packings = {}) {
  Tensor y = Tensor::empty(shape);
  kernels::average_pool(mean.windows, mean.count, rows_of(x), y.data());
  return record(y, {x}, [=, alive = packings](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    kernels::average_pool_backward(mean.windows, mean.count, dy.data(), mutable_rows_of(dx.tensor),
                                   dx.add);
  });
}

Tensor max_of_each(const Places& places, const Tensor& x, const Packings& packings = {}) {
  Tensor y = Tensor::empty({places.count, x.width()});
  const Tensor choice = choices(x, y);
  kernels::max_each(places, rows_of(x), y.data(), choice_or_null(choice));
  return record(y, {x}, [=, alive = packings](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    kernels::max_each_backward(places, choice.data(), dy.data(), mutable_rows_of(dx.tensor),
                               dx.add);
  });
}

Tensor mean_of_each(const Places& places, const Tensor& x, const Packings& packings = {}) {
  Tensor y = Tensor::empty({places.count, x.width()});
  kernels::mean_each(places, rows_of(x), y.data());
  return record(y, {x}, [=, alive = packings](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    kernels::mean_each_backward(places, dy.data(), mutable_rows_of(dx.tensor), dx.add);
  });
}

WindowAxis axis_of(const Pool1dOptions& o) {
  return {o.kernel, o.stride == 0 ? o.kernel : o.stride, o.dilation, o.left, o.right};
}

Windows windows_of(std::string_view op, const Tensor& x, const Pool2dOptions& o) {
  const auto axis = [&](size_t Extent2::*along) {
    const size_t kernel = o.kernel.*along, stride = o.stride.*along, padding = o.padding.*along;
    const WindowAxis result{kernel, stride == 0 ? kernel : stride, o.dilation.*along, padding,
                            padding};
    check_window(op, result);
    return result;
  };
  check_images(op, x);
  return windows_over_images(op, x, axis(&Extent2::height), axis(&Extent2::width));
}

Shape shape_of(const Windows& windows, const Tensor& x) {
  return {windows.to.count, windows.to.height, windows.to.width, x.width()};
}

PoolCount count_of(bool count_padding) {
  return count_padding ? PoolCount::kAll : PoolCount::kInside;
}

Places images_of(std::string_view op, const Tensor& x) {
  check_images(op, x);
  return Places::images(x.extent(0), x.extent(1), x.extent(2));
}

}  // namespace

Sequences max_pool1d(const Tensor& x, const Packing& packing, const Pool1dOptions& options) {
  const WindowAxis axis = axis_of(options);
  check_sequences("max_pool1d", x, packing);
  check_window("max_pool1d", axis);
  const Packing to = packing_of_windows(packing, axis);
  return {max_windows(windows_over(packing, to, axis), {to.rows(), x.width()}, x, {packing, to}),
          to};
}

Sequences mean_pool1d(const Tensor& x, const Packing& packing, const Pool1dOptions& options) {
  const WindowAxis axis = axis_of(options);
  check_sequences("mean_pool1d", x, packing);
  check_window("mean_pool1d", axis);
  const Packing to = packing_of_windows(packing, axis);
  const MeanWindows mean{windows_over(packing, to, axis), count_of(options.count_padding)};
  return {mean_windows(mean, {to.rows(), x.width()}, x, {packing, to}), to};
}

Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
  const Windows windows = windows_of("max_pool2d", x, options);
  return max_windows(windows, shape_of(windows, x), x);
}

Tensor mean_pool2d(const Tensor& x, const Pool2dOptions& options) {
  const Windows windows = windows_of("mean_pool2d", x, options);
  return mean_windows({windows, count_of(options.count_padding)}, shape_of(windows, x), x);
}

Tensor max_pool(const Tensor& x, const Packing& packing) {
  check_sequences("max_pool", x, packing);
  return max_of_each(Places::sequences(packing.offsets()), x, {packing});
}

Tensor mean_pool(const Tensor& x, const Packing& packing) {
  check_sequences("mean_pool", x, packing);
  return mean_of_each(Places::sequences(packing.offsets()), x, {packing});
}

Tensor max_pool(const Tensor& x) { return max_of_each(images_of("max_pool", x), x); }

Tensor mean_pool(const Tensor& x) { return mean_of_each(images_of("mean_pool", x), x); }

}  // namespace attend
