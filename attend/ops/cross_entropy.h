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
};

// -log softmax(logits)[target] of each row; the probabilities are never stored. logits [...,
// classes], targets int32 [...]; the result is a scalar, or [rows] without reduction. Throws
// DataError for a target out of range.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options = {});

}  // namespace attend
