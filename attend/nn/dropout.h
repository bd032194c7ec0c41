// Dropout as a module, for models that list their parts.
#pragma once

#include "attend/nn/visit.h"
#include "attend/ops/dropout.h"

namespace attend {

// Zeroes elements with probability `chance`, inside a TrainingScope only.
struct Dropout {
  float chance = 0.1f;

  // dropout(x), of any shape.
  Tensor operator()(const Tensor& x) const { return dropout(x, chance); }
  // residual + dropout(x), in one pass.
  Tensor operator()(const Tensor& x, const Tensor& residual) const {
    return dropout_add(x, residual, chance);
  }

  // It has no parameters.
  void visit(Visitor&) {}
};

}  // namespace attend
