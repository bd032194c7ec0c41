// The loss of a classifier over a vocabulary.
#pragma once

#include "attend/kernels/cross_entropy.h"
#include "attend/tensor/tensor.h"

namespace attend {

using kernels::kIgnoredTarget;

enum class Reduction { kMean, kSum, kNone };

struct CrossEntropyOptions {
  float label_smoothing = 0.0f;            // in [0, 1]: this much of the target goes to all classes
  Reduction reduction = Reduction::kMean;  // over the rows whose target is not kIgnoredTarget
};

// -log softmax(logits)[target] of each row, softmax and probabilities never stored.
// logits [..., classes], targets int32 [...]; a scalar, or [rows] without reduction.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options = {});

}  // namespace attend
