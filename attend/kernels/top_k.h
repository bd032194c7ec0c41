// The most probable entries of each row of logits, without computing all probabilities.
#pragma once

#include <cstdint>

#include "attend/kernels/rows.h"

namespace attend::kernels {

// ids and log_probabilities (x.count, k): the k largest of each row, largest first, the lower index
// first among equals, as x - log sum e^x. NaN counts as the smallest. Where a row has fewer than k
// that are more than -inf, the rest are -1 and -inf. k <= x.width.
void top_k(Rows x, size_t k, int32_t* ids, float* log_probabilities);

}  // namespace attend::kernels
