// Transposed copies.
#pragma once

#include "attend/kernels/rows.h"

namespace attend::kernels {

// y[j, i] = x[i, j], or y[j, i] += where `add`: x (m, n), y (n, m). They must not overlap.
void transpose(Rows x, MutableRows y, bool add = false);

}  // namespace attend::kernels
