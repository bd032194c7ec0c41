// The matrix of a linear layer or an embedding, in whatever form it is stored. Layers multiply by
// it and look up its rows; nothing else knows the form.
#pragma once

#include <memory>
#include <utility>

#include "attend/kernels/gemm.h"
#include "attend/ops/embedding.h"
#include "attend/ops/linear.h"

namespace attend {

// A low-rank change of a matrix (LoRA; Hu et al., 2021): W + scale up down. With `up` at zero,
// where it starts, the matrix is W to the bit.
struct LowRank {
  Tensor down, up;  // [rank, in], [out, rank]
  float scale = 1.0f;
  float dropout = 0.0f;  // of what `down` reads, in training

  Tensor matrix() const;  // scale up down, [out, in]
};

struct Weight {
  Tensor value;                  // fp32 [out, in], the only form that can be trained or saved
  kernels::PackedMatrix packed;  // or its transpose, laid out for products: see nn/pack.h
  std::shared_ptr<LowRank> change = nullptr;  // beside `value`: see nn/low_rank.h

  Weight() = default;
  explicit Weight(Tensor fp32) : value(std::move(fp32)) {}

  // Whether it has a matrix, and its size [out, in].
  bool defined() const { return value.defined() || !packed.empty(); }
  size_t out() const { return packed.empty() ? value.extent(0) : packed.columns(); }
  size_t in() const { return packed.empty() ? value.extent(1) : packed.rows(); }

  // The matrix as a tensor, on the tape: for layers that need it whole. Not of a packed one.
  Tensor matrix() const { return change == nullptr ? value : changed_matrix(); }
  // f(x W^T + b) for x [..., in]; [..., out].
  Tensor times(const Tensor& x, const Tensor& bias, Activation activation) const {
    if (change != nullptr) return changed_times(x, bias, activation);
    return packed.empty() ? linear(x, value, bias, activation)
                          : linear(x, packed, bias, activation);
  }
  // scale W[ids]: [ids..., in].
  Tensor rows(const Tensor& ids, float scale) const {
    if (change != nullptr) return changed_rows(ids, scale);
    return packed.empty() ? embedding(value, ids, scale) : embedding(packed, ids, scale);
  }

 private:
  Tensor changed_matrix() const;
  Tensor changed_times(const Tensor& x, const Tensor& bias, Activation activation) const;
  Tensor changed_rows(const Tensor& ids, float scale) const;
};

}  // namespace attend
