// The gated linear unit (Dauphin et al., 2017).
#pragma once

#include "attend/tensor/tensor.h"

namespace attend {

// The first half of each row times the sigmoid of the second: x [..., 2 n] to [..., n].
Tensor glu(const Tensor& x);

}  // namespace attend
