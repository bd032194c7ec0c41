// Element-wise functions and their derivatives.
#pragma once

#include <cstddef>

namespace attend::kernels {

// Functions by name; kGelu uses erf, kGeluTanh its approximation by tanh.
enum class Activation {
  kIdentity,
  kRelu,
  kGelu,
  kGeluTanh,
  kSilu,
  kTanh,
  kSigmoid,
  kSoftplus,
  kExp
};

// y[i] = f(x[i]). x may equal y. NaN gives NaN, infinity the limit. Largest errors over all floats:
//   exp 1.5 ULP; sigmoid, tanh, softplus and silu 3 ULP; gelu (erf form) 1e-7 + 1 ULP, its tanh
//   form 1e-7 + 2 ULP. Results smaller than 1e-36 may become 0.
void activate(Activation f, const float* x, float* y, size_t size);

// dx[i] = dy[i] f'(x[i]), or dx[i] += where `add`. dx may equal dy. Largest errors of f': as above
// for exp and softplus (sigmoid); sigmoid 5 ULP; tanh 6 ULP; silu and gelu 2e-7 + 3 ULP, tanh form
// 4e-7 + 2.
void activate_backward(Activation f, const float* x, const float* dy, float* dx, size_t size,
                       bool add);

// y[i] = tanh(x[i]) and slope[i] = 1 - y[i]^2, without its cancellation, to the bounds above. x may
// equal y. On the calling thread.
void tanh_with_slope(const float* x, float* y, float* slope, size_t size);

}  // namespace attend::kernels
