// The loss of a classifier over a vocabulary.
#pragma once

#include "attend/kernels/cross_entropy.h"
#include "attend/tensor/tensor.h"

namespace attend {

using kernels::kIgnoredTarget;

// What becomes of the losses of all rows: their mean, their sum, or all of them.
enum class Reduction { kMean, kSum, kNone };

struct CrossEntropyOptions {
  float label_smoothing = 0.0f;  // in [0, 1]: this share of the target is spread over all classes
  Reduction reduction = Reduction::kMean;  // over the rows whose target is not kIgnoredTarget
  // [classes], or undefined for 1: the loss of a row is multiplied by the weight of its target, and
  // the mean is the sum of these divided by the sum of the weights. What label smoothing gives to a
  // class has the weight of that class, as PyTorch has it.
  Tensor class_weights = {};
};

// -log softmax(logits)[target] of each row; the probabilities are never stored. logits [...,
// classes], targets int32 [...]; the result is a scalar, or [rows] without reduction. Throws
// DataError for a target out of range.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options = {});

// What the mean divides by: the number of targets that are not ignored, or the sum of their
// weights.
double target_weight(const Tensor& targets, const Tensor& class_weights = {});

}  // namespace attend
