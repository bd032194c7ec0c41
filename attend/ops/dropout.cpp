#include "attend/ops/dropout.h"

#include "attend/base/error.h"
#include "attend/kernels/dropout.h"
#include "attend/kernels/elementwise.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/rows.h"
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

// y[r] = x[r] mask[s] for each row r of sequence s, or y[r] += where `add`.
void mask_rows(const Tensor& x, const Packing& packing, const Tensor& mask, const Tensor& y,
               bool add) {
  for (size_t s = 0; s < packing.count(); ++s) {
    const size_t first = packing.begin(s), count = packing.length(s);
    kernels::multiply_row_vector(rows_of(x.slice_rows(first, count)),
                                 mask.data() + s * mask.width(),
                                 mutable_rows_of(y.slice_rows(first, count)), add);
  }
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

Tensor sequence_dropout(const Tensor& x, const Packing& packing, float chance) {
  if (x.rank() != 2 || x.rows() != packing.rows()) {
    throw ShapeError("sequence_dropout: {} does not fit sequences of {} rows in all", x.shape(),
                     packing.rows());
  }
  const Tensor mask = dropout_mask(packing.count(), x.width(), chance);
  if (!mask.defined()) return x;
  Tensor y = Tensor::empty(x.shape());
  mask_rows(x, packing, mask, y, false);
  return record(y, {x}, [x, packing, mask](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    mask_rows(dy, packing, mask, dx.tensor, dx.add);
  });
}

Tensor dropout_mask(size_t sequences, size_t width, float chance) {
  TrainingScope* training = active_training(chance);
  if (training == nullptr) return {};
  Tensor mask = Tensor::empty({sequences, width});
  kernels::dropout_factors(0, mask.data(), mask.size(), {chance, training->rng.stream()});
  return mask;
}

}  // namespace attend
