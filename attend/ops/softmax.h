// Softmax on the tape.
#pragma once

#include "attend/tensor/tensor.h"

namespace attend {

// Over the last axis. A row of nothing but -inf gives zeros.
Tensor softmax(const Tensor& x);
Tensor log_softmax(const Tensor& x);

}  // namespace attend
