// A tensor under its name: what a module lists, an optimiser holds and a file keeps.
#pragma once

#include <string>

#include "attend/tensor/tensor.h"

namespace attend {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace attend
