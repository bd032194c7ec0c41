// Dropout (Srivastava et al., 2014), scaled in training. The mask is a function of (seed, stream,
// element), so it is recomputed for the gradient instead of stored, and does not depend on the SIMD
// target, the threads, or how the work is divided.
#pragma once

#include <cstddef>

#include "attend/base/rng.h"

namespace attend::kernels {

// Each element is kept with probability keep_chance() and scaled by its inverse, so that the
// expectation is exact. The chance is quantised to 1/65536; `chance` is in [0, 1).
struct Dropout {
  float chance;  // of dropping an element
  RandomStream random;

  // Element i is kept if its 16 random bits are below this: bits 16 (g % 2) upwards of word
  // 2 (g / 2) + i % 2 of philox(seed, 8 (i / 64) + (i % 16) / 2, stream), with g = i / 16 % 4.
  uint32_t threshold() const;
  // Of the elements that are kept.
  float scale() const { return 65536.0f / static_cast<float>(threshold()); }
};

// y[i] = x[i] scale if element i is kept, else 0 (also when x[i] is NaN). x may be y.
void dropout(const float* x, float* y, size_t size, const Dropout& options);

// dx[i] = dy[i] scale if kept, else 0; or dx[i] += where `add`. dx may be dy.
void dropout_backward(const float* dy, float* dx, size_t size, const Dropout& options, bool add);

// y = residual + dropout(x). y may be x or residual. Its gradient is dy for the residual and
// dropout_backward(dy) for x.
void dropout_add(const float* x, const float* residual, float* y, size_t size,
                 const Dropout& options);

// factors[i] = scale or 0, the factor of element first + i, for kernels that fuse dropout.
void dropout_factors(size_t first, float* factors, size_t size, const Dropout& options);

}  // namespace attend::kernels
