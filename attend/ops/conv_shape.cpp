#include "attend/ops/conv_shape.h"

#include "attend/base/error.h"

namespace attend {

using kernels::Places;
using kernels::WindowAxis;
using kernels::Windows;

void check_sequences(std::string_view op, const Tensor& x, const Packing& packing) {
  if (x.rank() != 2)
    throw ShapeError("{}: input {} is not a packed batch [rows, width]", op, x.shape());
  if (x.extent(0) != packing.rows()) {
    throw ShapeError("{}: input {} has {} rows but its packing has {}", op, x.shape(), x.extent(0),
                     packing.rows());
  }
}

void check_images(std::string_view op, const Tensor& x) {
  if (x.rank() != 4) {
    throw ShapeError("{}: input {} is not [batch, height, width, channels]", op, x.shape());
  }
}

void check_window(std::string_view op, const WindowAxis& axis) {
  if (axis.kernel == 0 || axis.stride == 0 || axis.dilation == 0) {
    throw ConfigError("{}: kernel {}, stride {} and dilation {} must be at least 1", op,
                      axis.kernel, axis.stride, axis.dilation);
  }
}

Packing packing_of_windows(const Packing& packing, const WindowAxis& axis) {
  std::vector<int32_t> lengths(packing.count());
  bool same = true;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const size_t length = axis.count(packing.length(i));
    lengths[i] = static_cast<int32_t>(length);
    same = same && length == packing.length(i);
  }
  return same ? packing : Packing(lengths);
}

Windows windows_over(const Packing& from, const Packing& to, const WindowAxis& axis) {
  return {.horizontal = axis,
          .from = Places::sequences(from.offsets()),
          .to = Places::sequences(to.offsets())};
}

Windows windows_over_images(std::string_view op, const Tensor& x, const WindowAxis& vertical,
                            const WindowAxis& horizontal) {
  const size_t count = x.extent(0), height = x.extent(1), width = x.extent(2);
  const size_t y_height = vertical.count(height), y_width = horizontal.count(width);
  if (count > 0 && (y_height == 0 || y_width == 0)) {
    throw ShapeError(
        "{}: a window of {} x {} does not fit into images {} with padding {} x {}; pad more", op,
        vertical.span(), horizontal.span(), x.shape(), vertical.before, horizontal.before);
  }
  return {vertical, horizontal, Places::images(count, height, width),
          Places::images(count, y_height, y_width)};
}

}  // namespace attend
