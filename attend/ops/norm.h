// Normalisation on the tape.
#pragma once

#include "attend/tensor/tensor.h"

namespace attend {

// (x - mean) / sqrt(variance + epsilon) of each row, times weight, plus bias. x [..., width];
// weight and bias [width], or undefined.
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, float epsilon = 1e-5f);

// x / sqrt(mean(x^2) + epsilon) of each row, times weight.
Tensor rms_norm(const Tensor& x, const Tensor& weight, float epsilon = 1e-6f);

// The running statistics of batch norm, and its settings.
struct BatchNormState {
  Tensor running_mean, running_var;  // [channels]
  float epsilon = 1e-5f, momentum = 0.1f;
};

// Normalises each channel over all rows of x [..., channels]. In training it uses the statistics of
// the batch and updates the running ones; otherwise it uses the running ones.
Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const BatchNormState& state);

}  // namespace attend
