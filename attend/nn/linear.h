// The fully connected layer.
#pragma once

#include "attend/nn/init.h"
#include "attend/nn/visit.h"
#include "attend/ops/linear.h"

namespace attend {

struct LinearOptions {
  bool bias = true;
  Init init = Init::kXavierUniform;  // of the weight; the bias starts at zero
};

struct Linear {
  Tensor weight;                 // [out, in]
  Tensor bias;                   // [out], or undefined
  kernels::PackedMatrix packed;  // instead of the weight: see pack_weights

  Linear() = default;
  Linear(size_t in, size_t out, Rng& rng, LinearOptions options = {})
      : weight(parameter({out, in}, options.init, rng)) {
    if (options.bias) bias = parameter({out}, Init::kZeros, rng);
  }
  // Shares a weight [out, in] with another layer, such as an embedding.
  static Linear tied(const Tensor& weight, const kernels::PackedMatrix& packed = {}) {
    Linear layer;
    layer.weight = weight;
    layer.packed = packed;
    return layer;
  }

  // x [..., in] to [..., out].
  Tensor operator()(const Tensor& x, Activation activation = Activation::kIdentity) const {
    return packed.empty() ? linear(x, weight, bias, activation)
                          : linear(x, packed, bias, activation);
  }

  void visit(Visitor& v) {
    v.matrix("weight", weight, packed);
    v("bias", bias);
  }
};

}  // namespace attend
