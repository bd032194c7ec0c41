// Normalisation layers.
#pragma once

#include "attend/nn/init.h"
#include "attend/nn/visit.h"
#include "attend/ops/norm.h"

namespace attend {

// Normalises each row to mean 0 and variance 1, then scales and shifts it (Ba et al., 2016).
struct LayerNorm {
  Tensor weight, bias;  // [width]
  float epsilon = 1e-5f;

  LayerNorm() = default;
  explicit LayerNorm(size_t width, float eps = 1e-5f)
      : weight(constant_parameter({width}, 1.0f)),
        bias(constant_parameter({width}, 0.0f)),
        epsilon(eps) {}

  // x [..., width] to the same shape.
  Tensor operator()(const Tensor& x) const { return layer_norm(x, weight, bias, epsilon); }

  void visit(Visitor& v) {
    v("weight", weight);
    v("bias", bias);
  }
};

// Divides each row by the root of its mean square, then scales it (Zhang and Sennrich, 2019).
struct RmsNorm {
  Tensor weight;  // [width]
  float epsilon = 1e-6f;

  RmsNorm() = default;
  explicit RmsNorm(size_t width, float eps = 1e-6f)
      : weight(constant_parameter({width}, 1.0f)), epsilon(eps) {}

  // x [..., width] to the same shape.
  Tensor operator()(const Tensor& x) const { return rms_norm(x, weight, epsilon); }

  void visit(Visitor& v) { v("weight", weight); }
};

// Normalises each channel to mean 0 and variance 1 over the batch (Ioffe and Szegedy, 2015).
// Outside a TrainingScope it uses the running statistics.
struct BatchNorm {
  Tensor weight, bias;               // [channels]
  Tensor running_mean, running_var;  // [channels]
  float epsilon = 1e-5f, momentum = 0.1f;

  BatchNorm() = default;
  explicit BatchNorm(size_t channels)
      : weight(constant_parameter({channels}, 1.0f)),
        bias(constant_parameter({channels}, 0.0f)),
        running_mean(constant_buffer({channels}, 0.0f)),
        running_var(constant_buffer({channels}, 1.0f)) {}

  // x [..., channels]; updates the running statistics in training.
  Tensor operator()(const Tensor& x) const {
    return batch_norm(x, weight, bias, {running_mean, running_var, epsilon, momentum});
  }

  void visit(Visitor& v) {
    v("weight", weight);
    v("bias", bias);
    v.buffer("running_mean", running_mean);
    v.buffer("running_var", running_var);
  }
};

}  // namespace attend
