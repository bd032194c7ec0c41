#include "attend/ops/norm.h"

#include <cmath>

#include "attend/base/error.h"
#include "attend/kernels/batch_norm.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/layer_norm.h"
#include "attend/kernels/reduce.h"
#include "attend/kernels/rms_norm.h"
#include "attend/ops/rows.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"

namespace attend {
namespace {

void check_vector(const char* op, const char* what, const Tensor& x, const Tensor& vector) {
  if (x.rank() == 0 || (vector.defined() && vector.shape() != Shape{x.width()})) {
    throw ShapeError("{}: {} {} does not fit input {}", op, what,
                     vector.defined() ? vector.shape() : Shape{}, x.shape());
  }
}

const float* data_or_null(const Tensor& x) { return x.defined() ? x.data() : nullptr; }

float* accumulator_or_null(Grads& grads, const Tensor& x) {
  return grads.wants(x) ? grads.accumulator(x) : nullptr;
}

// Where the gradient of x goes; a place to be thrown away when nobody wants it.
Gradient gradient_or_scratch(Grads& grads, const Tensor& x) {
  return grads.wants(x) ? grads.of(x) : Gradient{Tensor::like(x), false};
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, float epsilon) {
  check_vector("layer_norm", "weight", x, weight);
  check_vector("layer_norm", "bias", x, bias);
  Tensor y = Tensor::like(x);
  const Tensor mean = Tensor::empty({x.rows()}), rstd = Tensor::empty({x.rows()});
  kernels::layer_norm(rows_of(x), {data_or_null(weight), data_or_null(bias), epsilon},
                      mutable_rows_of(y), mean.data(), rstd.data());
  return record(y, {x, weight, bias}, [=](const Tensor& dy, Grads& grads) {
    const Gradient dx = gradient_or_scratch(grads, x);
    kernels::layer_norm_backward(rows_of(x), rows_of(dy), data_or_null(weight), mean.data(),
                                 rstd.data(),
                                 {mutable_rows_of(dx.tensor), accumulator_or_null(grads, weight),
                                  accumulator_or_null(grads, bias), dx.add});
  });
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, float epsilon) {
  check_vector("rms_norm", "weight", x, weight);
  Tensor y = Tensor::like(x);
  const Tensor rstd = Tensor::empty({x.rows()});
  kernels::rms_norm(rows_of(x), {data_or_null(weight), epsilon}, mutable_rows_of(y), rstd.data());
  return record(y, {x, weight}, [=](const Tensor& dy, Grads& grads) {
    const Gradient dx = gradient_or_scratch(grads, x);
    kernels::rms_norm_backward(
        rows_of(x), rows_of(dy), data_or_null(weight), rstd.data(),
        {mutable_rows_of(dx.tensor), accumulator_or_null(grads, weight), dx.add});
  });
}

namespace {

Tensor batch_norm_train(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const BatchNormState& state) {
  if (x.rows() == 1) {
    throw DataError("batch_norm: a batch of one row {} has no variance to train on", x.shape());
  }
  Tensor y = Tensor::like(x);
  const Tensor mean = Tensor::empty({x.width()}), rstd = Tensor::empty({x.width()});
  const kernels::RunningStatistics running{state.running_mean.data(), state.running_var.data(),
                                           state.momentum};
  if (x.rows() > 0) {
    kernels::batch_norm_train(rows_of(x), {data_or_null(weight), data_or_null(bias), state.epsilon},
                              &running, mutable_rows_of(y), mean.data(), rstd.data());
  }
  return record(y, {x, weight, bias}, [=](const Tensor& dy, Grads& grads) {
    const Gradient dx = gradient_or_scratch(grads, x);
    float* d_weight = accumulator_or_null(grads, weight);
    float* d_bias = accumulator_or_null(grads, bias);
    if (x.rows() == 0) return;
    kernels::batch_norm_backward(rows_of(x), rows_of(dy), data_or_null(weight), mean.data(),
                                 rstd.data(),
                                 {mutable_rows_of(dx.tensor), d_weight, d_bias, dx.add});
  });
}

// An affine map of each channel: y = x_hat weight + bias, x_hat = (x - mean) / sqrt(var + epsilon).
Tensor batch_norm_infer(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const BatchNormState& state) {
  Tensor y = Tensor::like(x);
  kernels::batch_norm_infer(rows_of(x), {data_or_null(weight), data_or_null(bias), state.epsilon},
                            state.running_mean.data(), state.running_var.data(),
                            mutable_rows_of(y));
  return record(y, {x, weight, bias}, [=](const Tensor& dy, Grads& grads) {
    const Tensor slope = Tensor::empty({x.width()});
    for (size_t j = 0; j < x.width(); ++j) {
      slope.data()[j] = 1.0f / std::sqrt(state.running_var.data()[j] + state.epsilon);
    }
    if (grads.wants(weight)) {
      Tensor x_hat = Tensor::like(x);
      kernels::batch_norm_infer(rows_of(x), {nullptr, nullptr, state.epsilon},
                                state.running_mean.data(), state.running_var.data(),
                                mutable_rows_of(x_hat));
      const Gradient dw = grads.of(weight);
      kernels::multiply_sum_rows(rows_of(dy), rows_of(x_hat), dw.data(), dw.add);
    }
    if (grads.wants(bias)) {
      const Gradient db = grads.of(bias);
      kernels::sum_rows(rows_of(dy), db.data(), db.add);
    }
    if (grads.wants(x)) {
      if (weight.defined()) kernels::multiply(slope.data(), weight.data(), slope.data(), x.width());
      const Gradient dx = grads.of(x);
      kernels::multiply_row_vector(rows_of(dy), slope.data(), mutable_rows_of(dx.tensor), dx.add);
    }
  });
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const BatchNormState& state) {
  check_vector("batch_norm", "weight", x, weight);
  check_vector("batch_norm", "bias", x, bias);
  check_vector("batch_norm", "running mean", x, state.running_mean);
  check_vector("batch_norm", "running variance", x, state.running_var);
  return current_training() != nullptr ? batch_norm_train(x, weight, bias, state)
                                       : batch_norm_infer(x, weight, bias, state);
}

}  // namespace attend
