// Root-mean-square normalisation (Zhang and Sennrich 2019) over each row:
// y = x / sqrt(mean(x^2) + eps) gamma.
#pragma once

#include "attend/kernels/rows.h"

namespace attend::kernels {

struct RmsNorm {
  const float* gamma = nullptr;  // (width), null for ones
  float eps = 1e-6f;
};

// y may be x. rstd = 1 / sqrt(mean(x^2) + eps), (count), is kept for the gradient and may be null.
void rms_norm(Rows x, const RmsNorm& norm, MutableRows y, float* rstd);

// dx may be dy; dgamma (width) is always added to and may be null.
struct RmsNormGradient {
  MutableRows dx;
  float* dgamma = nullptr;
  bool add = false;  // accumulate into dx
};
void rms_norm_backward(Rows x, Rows dy, const float* gamma, const float* rstd,
                       const RmsNormGradient& gradient);

}  // namespace attend::kernels
