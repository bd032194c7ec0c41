// Optimizer steps over all parameters of a model in one pass, gradient clipping included. Semantics
// are PyTorch's. Tensors are cut into fixed chunks that threads share, so many small tensors cost
// no more than a large one, and the bits do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace attend::kernels {

class RowSums;

// A parameter with its gradient and the optimizer's state, `size` floats each. Without a gradient
// it is not changed. One whose gradient is rows has `width` and changes in these alone: their
// moments, decay and velocity rest while they do not occur, as in PyTorch's SparseAdam.
struct OptimizerTensor {
  float* parameter;
  const float* gradient;  // or null
  float* m = nullptr;     // zero before the first step; SGD without momentum does not read it
  float* v = nullptr;     // zero before the first step; only Adam reads it
  size_t size;
  float weight_decay = 0.0f;
  float rate_scale = 1.0f;        // this tensor's learning rate relative to the options'
  const RowSums* rows = nullptr;  // the gradient, in place of `gradient`
  size_t width = 0;
};

// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019). With g the scaled gradient:
//   decoupled: p -= rate weight_decay p;  otherwise g += weight_decay p
//   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
//   p -= rate (m / (1 - beta1^step)) / (sqrt(v / (1 - beta2^step)) + epsilon)
struct AdamOptions {
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool decoupled = true;        // AdamW
  int64_t step = 1;             // 1 at the first call
  float gradient_scale = 1.0f;  // from clip_scale
};
void adam(std::span<const OptimizerTensor> tensors, const AdamOptions& options);

// g += weight_decay p;  with momentum: m = momentum m + g, and g = m, or g + momentum m if
// nesterov; p -= rate g.
struct SgdOptions {
  double rate = 1e-2, momentum = 0.0;
  bool nesterov = false;
  float gradient_scale = 1.0f;  // from clip_scale
};
void sgd(std::span<const OptimizerTensor> tensors, const SgdOptions& options);

// The Euclidean norm of all gradients together, summed in double. It is finite unless a gradient
// holds a NaN or an infinity, so std::isfinite(norm) tells whether a step is safe.
double gradient_norm(std::span<const OptimizerTensor> tensors);

// The factor that brings the norm of gradients down to `limit`; 1 if it is not above.
float clip_scale(double norm, double limit);

}  // namespace attend::kernels
