// The fully connected layer, x W^T + b.
#pragma once

#include "attend/nn/init.h"
#include "attend/nn/visit.h"

namespace attend {

struct LinearOptions {
  bool bias = true;
  Init init = Init::kXavierUniform;  // of the weight; the bias starts at zero
};

// A fully connected layer. Copies share their parameters.
struct Linear {
  Weight weight;  // [out, in]
  Tensor bias;    // [out], or undefined

  Linear() = default;
  Linear(size_t in, size_t out, Rng& rng, LinearOptions options = {})
      : weight(parameter({out, in}, options.init, rng)) {
    if (options.bias) bias = parameter({out}, Init::kZeros, rng);
  }
  // Without a bias; shares its weight with another layer, such as an embedding.
  explicit Linear(Weight shared) : weight(std::move(shared)) {}

  // x [..., in] to [..., out].
  Tensor operator()(const Tensor& x, Activation activation = Activation::kIdentity) const {
    return weight.times(x, bias, activation);
  }

  void visit(Visitor& v) {
    v("weight", weight);
    v("bias", bias);
  }
};

}  // namespace attend
