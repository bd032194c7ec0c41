// Tensors as operands of kernels::gemm. Not for use outside Attend.
#pragma once

#include "attend/kernels/gemm.h"
#include "attend/tensor/tape.h"

namespace attend {

inline kernels::Matrix matrix(const Tensor& x, bool transposed = false) {
  return {x.data(), x.stride(), transposed};
}

inline kernels::MutableMatrix target(const Tensor& x) { return {x.data(), x.stride()}; }

// A product that is a gradient, or adds to one.
inline kernels::GemmOptions into(const Gradient& gradient) {
  return {.beta = gradient.add ? 1.0f : 0.0f};
}

}  // namespace attend
