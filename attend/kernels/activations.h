// Element-wise functions and their derivatives.
#pragma once

#include <cstddef>

namespace attend::kernels {

enum class Activation { kIdentity, kRelu, kGelu, kGeluTanh, kSilu, kTanh, kSigmoid, kSoftplus, kExp };

// y[i] = f(x[i]). x may equal y. Largest errors against the exact function, for |x| <= 80:
//   exp 1.5 ULP; tanh and sigmoid 3 ULP; softplus 4 ULP; silu 4 ULP; gelu (erf form) and its tanh form
//   2e-7 absolute plus 4 ULP.
void activate(Activation f, const float* x, float* y, size_t size);

// dx[i] = dy[i] f'(x[i]), or dx[i] += where `add`. dx may equal dy.
void activate_backward(Activation f, const float* x, const float* dy, float* dx, size_t size, bool add);

}  // namespace attend::kernels
