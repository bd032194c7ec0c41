// Matrix products on the tape.
#pragma once

#include "attend/kernels/activations.h"
#include "attend/kernels/gemm.h"
#include "attend/tensor/tensor.h"

namespace attend {

using kernels::Activation;

// y = f(x W^T + b).  x [..., in], weight [out, in], bias [out] or undefined; y [..., out].
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              Activation activation = Activation::kIdentity);

// The same with W^T packed. It has no gradient: throws ConfigError if one is needed.
Tensor linear(const Tensor& x, const kernels::PackedMatrix& weight, const Tensor& bias = {},
              Activation activation = Activation::kIdentity);

struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;
};

// The product a b of matrices [m, k] and [k, n], or of a batch of such pairs: [batch, m, k] and
// [batch, k, n]. A transposed operand is stored as its transpose, [k, m] or [n, k].
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {});

}  // namespace attend
