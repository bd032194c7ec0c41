// Checks and geometry that convolutions and pooling share. Not for use outside conv.cpp and
// pool.cpp.
#pragma once

#include <string_view>

#include "attend/kernels/conv_window.h"
#include "attend/ops/conv.h"

namespace attend {

// Throw ShapeError or ConfigError unless x is a packed batch, or images, and the window can be.
void check_sequences(std::string_view op, const Tensor& x, const Packing& packing);
void check_images(std::string_view op, const Tensor& x);
void check_window(std::string_view op, const kernels::WindowAxis& axis);

// The packing of the windows over each sequence: the same one where no length changes.
Packing packing_of_windows(const Packing& packing, const kernels::WindowAxis& axis);

// The two packings must outlive the result.
kernels::Windows windows_over(const Packing& from, const Packing& to,
                              const kernels::WindowAxis& axis);

// Throws ShapeError where an image is smaller than the window.
kernels::Windows windows_over_images(std::string_view op, const Tensor& x,
                                     const kernels::WindowAxis& vertical,
                                     const kernels::WindowAxis& horizontal);

}  // namespace attend
