#include "attend/ops/cross_entropy.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/reduce.h"
#include "attend/ops/rows.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

void check(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  if (targets.dtype() != DType::kInt32 || logits.rank() == 0 || targets.size() != logits.rows()) {
    throw ShapeError("cross_entropy: logits {} need {} int32 targets, not {}", logits.shape(),
                     logits.rank() == 0 ? 0 : logits.rows(), targets.shape());
  }
  if (!(options.label_smoothing >= 0.0f && options.label_smoothing <= 1.0f)) {
    throw ConfigError("cross_entropy: label smoothing is {}, not within [0, 1]",
                      options.label_smoothing);
  }
  const auto classes = static_cast<int64_t>(logits.width());
  if (options.class_weights.defined() && options.class_weights.size() != logits.width()) {
    throw ShapeError("cross_entropy: {} class weights for {} classes", options.class_weights.size(),
                     logits.width());
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    const int32_t target = targets.indices()[i];
    if (target != kIgnoredTarget && (target < 0 || target >= classes)) {
      throw DataError("cross_entropy: target {} of row {} is not one of {} classes", target, i,
                      classes);
    }
  }
}

// Of each row; undefined where all are 1.
Tensor row_weights(const Tensor& targets, const Tensor& class_weights) {
  if (!class_weights.defined()) return {};
  const Tensor weights = Tensor::zeros({targets.size()});
  for (size_t i = 0; i < targets.size(); ++i) {
    const int32_t target = targets.indices()[i];
    if (target != kIgnoredTarget) weights.data()[i] = class_weights.data()[target];
  }
  return weights;
}

}  // namespace

double target_weight(const Tensor& targets, const Tensor& class_weights) {
  double sum = 0;
  for (const int32_t target : targets.index_span()) {
    if (target == kIgnoredTarget) continue;
    sum += class_weights.defined() ? double{class_weights.data()[target]} : 1.0;
  }
  return sum;
}

Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options) {
  check(logits, targets, options);
  const size_t rows = logits.rows();
  const float smoothing = options.label_smoothing;
  const Tensor losses = Tensor::empty({rows}), lse = Tensor::empty({rows});
  kernels::cross_entropy(rows_of(logits), targets.indices(), smoothing, losses.data(), lse.data());
  const Tensor weights = row_weights(targets, options.class_weights);
  if (weights.defined()) kernels::multiply(losses.data(), weights.data(), losses.data(), rows);

  const bool reduced = options.reduction != Reduction::kNone;
  const double counted = target_weight(targets, options.class_weights);
  const float factor = options.reduction == Reduction::kMean && counted > 0
                           ? 1.0f / static_cast<float>(counted)
                           : 1.0f;
  const Tensor y =
      reduced ? Tensor::full({}, static_cast<float>(kernels::sum(losses.data(), rows) * factor))
              : losses;

  return record(y, {logits}, [=](const Tensor& dy, Grads& grads) {
    Tensor scale = reduced ? Tensor::full({rows}, dy.item() * factor) : dy;
    if (weights.defined()) {
      const Tensor weighted = Tensor::empty({rows});
      kernels::multiply(scale.data(), weights.data(), weighted.data(), rows);
      scale = weighted;
    }
    const Gradient d_logits = grads.of(logits);
    kernels::cross_entropy_backward(
        rows_of(logits), targets.indices(), smoothing,
        {lse.data(), scale.data(), mutable_rows_of(d_logits.tensor), d_logits.add});
  });
}

}  // namespace attend
