#include "attend/ops/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
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

// What is spread over the classes where these have weights: a share of it is what smoothing adds to
// the loss of a row.
class WeightedSpread {
 public:
  WeightedSpread(const Tensor& logits, const Tensor& targets, const Tensor& weights, float share)
      : logits_(logits), targets_(targets), weights_(weights), share_(share) {}

  // loss[i] += share sum_j w[j] (lse[i] - logits[i, j]) / classes.
  void add_to(float* loss, const float* lse) const {
    for_rows([&](size_t i, const float* row, const Classes& possible) {
      double sum = 0;
      for (size_t j = 0; j < logits_.width(); ++j) {
        if (row[j] > kImpossible) sum += double{weights_.data()[j]} * (double{lse[i]} - row[j]);
      }
      loss[i] += static_cast<float>(share_ * sum / possible.count);
    });
  }
  // d_logits[i, j] += scale[i] share (softmax(logits)[i, j] sum w - w[j]) / classes.
  void add_gradient(const Tensor& d_logits, const float* lse, const float* scale) const {
    for_rows([&](size_t i, const float* row, const Classes& possible) {
      const double factor = double{scale[i]} * share_ / possible.count;
      float* const to = mutable_rows_of(d_logits).row(i);
      for (size_t j = 0; j < logits_.width(); ++j) {
        if (row[j] == kImpossible) continue;
        const double probability = std::exp(double{row[j]} - lse[i]);
        to[j] += static_cast<float>(factor *
                                    (probability * possible.weight - double{weights_.data()[j]}));
      }
    });
  }

 private:
  static constexpr float kImpossible = -std::numeric_limits<float>::infinity();
  // Of a row: classes whose logit is not -inf.
  struct Classes {
    double count = 0, weight = 0;
  };

  template <typename Body>
  void for_rows(const Body& body) const {
    constexpr size_t kGrain = 4096;  // logits
    const size_t width = logits_.width();
    parallel_for(targets_.size(), std::max<size_t>(1, kGrain / width),
                 [&](size_t begin, size_t end) {
                   for (size_t i = begin; i < end; ++i) {
                     if (targets_.indices()[i] == kIgnoredTarget) continue;
                     const float* const row = rows_of(logits_).row(i);
                     Classes possible;
                     for (size_t j = 0; j < width; ++j) {
                       if (row[j] == kImpossible) continue;
                       possible.count += 1;
                       possible.weight += double{weights_.data()[j]};
                     }
                     body(i, row, possible);
                   }
                 });
  }

  Tensor logits_, targets_, weights_;
  double share_;
};

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
  const Tensor weights = row_weights(targets, options.class_weights);
  const float share =
      weights.defined() ? options.label_smoothing : 0.0f;  // of classes with weights
  const float smoothing = weights.defined() ? 0.0f : options.label_smoothing;
  const WeightedSpread spread(logits, targets, options.class_weights, share);
  const Tensor losses = Tensor::empty({rows}), lse = Tensor::empty({rows});
  kernels::cross_entropy(rows_of(logits), targets.indices(), smoothing, losses.data(), lse.data());
  if (weights.defined()) {
    for (float& weight : weights.span()) weight *= 1.0f - share;
    kernels::multiply(losses.data(), weights.data(), losses.data(), rows);
  }
  if (share > 0.0f) spread.add_to(losses.data(), lse.data());

  const bool reduced = options.reduction != Reduction::kNone;
  const double counted = target_weight(targets, options.class_weights);
  const float factor = options.reduction == Reduction::kMean && counted > 0
                           ? 1.0f / static_cast<float>(counted)
                           : 1.0f;
  const Tensor y =
      reduced ? Tensor::full({}, static_cast<float>(kernels::sum(losses.data(), rows) * factor))
              : losses;

  return record(y, {logits}, [=](const Tensor& dy, Grads& grads) {
    const Tensor scale = reduced ? Tensor::full({rows}, dy.item() * factor) : dy;
    Tensor weighted = scale;
    if (weights.defined()) {
      weighted = Tensor::empty({rows});
      kernels::multiply(scale.data(), weights.data(), weighted.data(), rows);
    }
    const Gradient d_logits = grads.of(logits);
    kernels::cross_entropy_backward(
        rows_of(logits), targets.indices(), smoothing,
        {lse.data(), weighted.data(), mutable_rows_of(d_logits.tensor), d_logits.add});
    if (share > 0.0f) spread.add_gradient(d_logits.tensor, lse.data(), scale.data());
  });
}

}  // namespace attend
