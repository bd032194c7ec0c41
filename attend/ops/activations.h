// Element-wise activation functions on the tape.
#pragma once

#include "attend/kernels/activations.h"
#include "attend/tensor/tensor.h"

namespace attend {

using kernels::Activation;

// f of each element, for a tensor of any shape.
Tensor activate(Activation f, const Tensor& x);

// The same by name. gelu uses erf, gelu_tanh the approximation by tanh; silu is x sigmoid(x).
inline Tensor relu(const Tensor& x) { return activate(Activation::kRelu, x); }
inline Tensor gelu(const Tensor& x) { return activate(Activation::kGelu, x); }  // with erf
inline Tensor gelu_tanh(const Tensor& x) { return activate(Activation::kGeluTanh, x); }
inline Tensor silu(const Tensor& x) { return activate(Activation::kSilu, x); }
inline Tensor tanh(const Tensor& x) { return activate(Activation::kTanh, x); }
inline Tensor sigmoid(const Tensor& x) { return activate(Activation::kSigmoid, x); }
inline Tensor softplus(const Tensor& x) { return activate(Activation::kSoftplus, x); }
inline Tensor exp(const Tensor& x) { return activate(Activation::kExp, x); }

}  // namespace attend
