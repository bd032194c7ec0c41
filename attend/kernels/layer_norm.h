// Layer normalisation (Ba et al. 2016) over each row: y = (x - mean) / sqrt(variance + eps) gamma +
// beta.
#pragma once

#include "attend/kernels/rows.h"

namespace attend::kernels {

struct LayerNorm {
  const float* gamma = nullptr;  // (width), null for ones
  const float* beta = nullptr;   // (width), null for zeros
  float eps = 1e-5f;
};

// y may be x. mean and rstd = 1 / sqrt(variance + eps), each (count), are kept for the gradient and
// may be null if none is needed.
void layer_norm(Rows x, const LayerNorm& norm, MutableRows y, float* mean, float* rstd);

// Where gradients are written. dx may be dy; dgamma and dbeta (width) are always added to, over
// rows in an order that does not depend on the threads, and may be null.
struct LayerNormGradient {
  MutableRows dx;
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  bool add = false;  // accumulate into dx
};
void layer_norm_backward(Rows x, Rows dy, const float* gamma, const float* mean, const float* rstd,
                         const LayerNormGradient& gradient);

}  // namespace attend::kernels
