#include "attend/ops/dropout.h"

#include "attend/base/error.h"
#include "attend/kernels/dropout.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"

namespace attend {
namespace {

// The scope to draw from, or nullptr where dropout does nothing. Refuses NaN as well.
TrainingScope* active_training(float chance) {
  if (!(chance >= 0.0f && chance < 1.0f)) {
    throw ConfigError("dropout: the chance is {}, not within [0, 1)", chance);
  }
  return chance == 0.0f ? nullptr : current_training();
}

}  // namespace

Tensor dropout(const Tensor& input, float chance) {
  TrainingScope* training = active_training(chance);
  if (training == nullptr) return input;
  const Tensor x = contiguous(input);
  Tensor y = Tensor::like(x);
  const kernels::Dropout options{chance, training->rng.stream()};
  kernels::dropout(x.data(), y.data(), x.size(), options);
  return record(y, {x}, [x, options](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    kernels::dropout_backward(dy.data(), dx.data(), dy.size(), options, dx.add);
  });
}

Tensor dropout_add(const Tensor& input, const Tensor& residual_input, float chance) {
  if (input.shape() != residual_input.shape()) {
    throw ShapeError("dropout_add: {} cannot be added to {}", input.shape(),
                     residual_input.shape());
  }
  TrainingScope* training = active_training(chance);
  if (training == nullptr) return add(input, residual_input);
  const Tensor x = contiguous(input), residual = contiguous(residual_input);
  Tensor y = Tensor::like(x);
  const kernels::Dropout options{chance, training->rng.stream()};
  kernels::dropout_add(x.data(), residual.data(), y.data(), x.size(), options);
  return record(y, {x, residual}, [x, residual, options](const Tensor& dy, Grads& grads) {
    if (grads.wants(x)) {
      const Gradient dx = grads.of(x);
      kernels::dropout_backward(dy.data(), dx.data(), dy.size(), options, dx.add);
    }
    grads.pass(residual, dy);
  });
}

}  // namespace attend
