// Softmax cross-entropy with label smoothing (Szegedy et al. 2016) over rows of logits.
// Probabilities are never stored: the gradient recomputes them from the log-sum-exp of each row.
#pragma once

#include <cstdint>

#include "attend/kernels/rows.h"

namespace attend::kernels {

// A target that counts neither in the loss nor in the gradient.
inline constexpr int32_t kIgnoredTarget = -1;

// loss[i] = (1 - smoothing) nll(target) + smoothing / width sum_j nll(j), nll(j) = lse[i] -
// logits[i, j], which is PyTorch's definition. A row whose target is kIgnoredTarget has loss 0. The
// caller has checked that targets (count) are below the width. A class with a logit of -inf is
// impossible: smoothing goes to the others, and the loss is infinite only if it is the target.
void cross_entropy(Rows logits, const int32_t* targets, float smoothing, float* loss, float* lse);

// dlogits[i, j] = scale[i] (softmax(logits)[i, j] - q[i, j]), or += where `add`, with q the
// smoothed target distribution; scale (count) is the gradient of each row's loss. Ignored rows get
// 0. dlogits may be logits itself (then without add).
struct CrossEntropyGradient {
  const float* lse;    // (count), from cross_entropy
  const float* scale;  // (count)
  MutableRows dlogits;
  bool add = false;
};
void cross_entropy_backward(Rows logits, const int32_t* targets, float smoothing,
                            const CrossEntropyGradient& gradient);

// Both at once, row by row while the row is in the cache: writes loss and lse, and overwrites the
// logits with their gradient times `scale`.
void cross_entropy_in_place(MutableRows logits, const int32_t* targets, float smoothing,
                            float scale, float* loss, float* lse);

}  // namespace attend::kernels
