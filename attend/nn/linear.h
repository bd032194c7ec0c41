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
  Tensor weight;  // [out, in]
  Tensor bias;    // [out], or undefined

  Linear() = default;
  Linear(size_t in, size_t out, Rng& rng, LinearOptions options = {})
      : weight(parameter({out, in}, options.init, rng)) {
    if (options.bias) bias = parameter({out}, Init::kZeros, rng);
  }
  // Shares a weight [out, in] with another layer, such as an embedding.
  static Linear tied(const Tensor& weight) {
    Linear layer;
    layer.weight = weight;
    return layer;
  }

  // x [..., in] to [..., out].
  Tensor operator()(const Tensor& x, Activation activation = Activation::kIdentity) const {
    return linear(x, weight, bias, activation);
  }

  void visit(Visitor& v) {
    v("weight", weight);
    v("bias", bias);
  }
};

}  // namespace attend
