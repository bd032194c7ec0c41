// Dropout as a module.
#pragma once

#include "attend/nn/visit.h"
#include "attend/ops/dropout.h"

namespace attend {

// Active inside a TrainingScope only.
struct Dropout {
  float chance = 0.1f;

  Tensor operator()(const Tensor& x) const { return dropout(x, chance); }
  // residual + dropout(x), in one pass.
  Tensor operator()(const Tensor& x, const Tensor& residual) const {
    return dropout_add(x, residual, chance);
  }

  void visit(Visitor&) {}
};

}  // namespace attend
