// Softmax cross-entropy with label smoothing (Szegedy et al. 2016) over rows of logits.
// Probabilities are never stored: the log-sum-exp of each row is kept, and the gradient finds them
// again from it.
#pragma once

#include <cstdint>

#include "attend/kernels/rows.h"

namespace attend::kernels {

inline constexpr int32_t kIgnoredTarget = -1;

// loss[i] = (1 - smoothing) nll(target) + smoothing / width sum_j nll(j), nll(j) = lse[i] -
// logits[i, j], which is PyTorch's definition. A row whose target is kIgnoredTarget has loss 0. The
// caller has checked that targets (count) are below the width. A logit of -inf is a class that
// cannot be: smoothing goes to the others, and the loss is infinite only where it is the target.
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

// Both at once, a row at a time while it is in the cache: writes loss and lse, and turns the logits
// into their gradient, scaled by the same factor in all rows.
void cross_entropy_in_place(MutableRows logits, const int32_t* targets, float smoothing,
                            float scale, float* loss, float* lse);

}  // namespace attend::kernels
