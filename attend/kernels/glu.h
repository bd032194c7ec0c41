// The gated linear unit on rows.
#pragma once

#include "attend/kernels/rows.h"

namespace attend::kernels {

// A row of x holds values a, then as many gates b: y = a sigmoid(b). x is twice as wide as y.
void glu(Rows x, MutableRows y);

// The gradient of both halves, or dx += where `add`.
void glu_backward(Rows x, Rows dy, MutableRows dx, bool add);

}  // namespace attend::kernels
