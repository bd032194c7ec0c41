// Softmax and its logarithm over each row, and their gradients from the outputs.
#pragma once

#include "attend/kernels/rows.h"

namespace attend::kernels {

// y[i, j] = e^(x[i, j] - max_j) / sum. y may be x. A row of nothing but -inf gives zeros, never
// NaN.
void softmax(Rows x, MutableRows y);

// dx = y (dy - sum_j dy y), or dx += where `add`. dx may be dy.
void softmax_backward(Rows y, Rows dy, MutableRows dx, bool add);

// y[i, j] = x[i, j] - log sum_j e^x[i, j]. y may be x. A row of nothing but -inf stays as it is.
void log_softmax(Rows x, MutableRows y);

// dx = dy - e^y sum_j dy, or dx += where `add`. dx may be dy.
void log_softmax_backward(Rows y, Rows dy, MutableRows dx, bool add);

}  // namespace attend::kernels
