// A tensor with its name, as modules list them, optimizers hold them and files store them.
#pragma once

#include <string>

#include "attend/tensor/tensor.h"

namespace attend {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace attend
