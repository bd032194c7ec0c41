// Batch normalisation (Ioffe and Szegedy 2015) of each column over all rows:
// y = (x - mean) / sqrt(variance + eps) gamma + beta.
#pragma once

#include "attend/kernels/rows.h"

namespace attend::kernels {

struct BatchNorm {
  const float* gamma = nullptr;  // (width), null for ones
  const float* beta = nullptr;   // (width), null for zeros
  float eps = 1e-5f;
};

// Moving averages: running = (1 - momentum) running + momentum batch. The variance is the unbiased
// one (divided by count - 1), as in PyTorch.
struct RunningStatistics {
  float* mean;      // (width)
  float* variance;  // (width)
  float momentum = 0.1f;
};

// Normalises by the mean and the biased variance of the batch. y may be x. Writes mean and rstd = 1
// / sqrt(variance + eps), each (width), for the gradient. `running` may be null; otherwise count
// must be above 1.
void batch_norm_train(Rows x, const BatchNorm& norm, const RunningStatistics* running,
                      MutableRows y, float* mean, float* rstd);

// Normalises by given statistics, each (width). y may be x.
void batch_norm_infer(Rows x, const BatchNorm& norm, const float* mean, const float* variance,
                      MutableRows y);

// dx may be dy; dgamma and dbeta (width) are always added to and may be null.
struct BatchNormGradient {
  MutableRows dx;
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  bool add = false;  // accumulate into dx
};

// Gradients of batch_norm_train.
void batch_norm_backward(Rows x, Rows dy, const float* gamma, const float* mean, const float* rstd,
                         const BatchNormGradient& gradient);

}  // namespace attend::kernels
