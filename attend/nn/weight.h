// The matrix of a linear layer or an embedding, in whatever form it is stored. Layers multiply by
// it and look up its rows; nothing else knows the form.
#pragma once

#include <utility>

#include "attend/kernels/gemm.h"
#include "attend/ops/embedding.h"
#include "attend/ops/linear.h"

namespace attend {

struct Weight {
  Tensor value;                  // fp32 [out, in], the only form that can be trained or saved
  kernels::PackedMatrix packed;  // or its transpose, laid out for products: see nn/pack.h

  Weight() = default;
  explicit Weight(Tensor fp32) : value(std::move(fp32)) {}

  // Whether it has a matrix, and its size [out, in].
  bool defined() const { return value.defined() || !packed.empty(); }
  size_t out() const { return packed.empty() ? value.extent(0) : packed.columns(); }
  size_t in() const { return packed.empty() ? value.extent(1) : packed.rows(); }

  // f(x W^T + b) for x [..., in]; [..., out].
  Tensor times(const Tensor& x, const Tensor& bias, Activation activation) const {
    return packed.empty() ? linear(x, value, bias, activation)
                          : linear(x, packed, bias, activation);
  }
  // scale W[ids]: [ids..., in].
  Tensor rows(const Tensor& ids, float scale) const {
    return packed.empty() ? embedding(value, ids, scale) : embedding(packed, ids, scale);
  }
};

}  // namespace attend
