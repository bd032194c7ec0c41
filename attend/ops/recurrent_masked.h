// A recurrent layer with dropout inside the recurrence (Gal and Ghahramani, 2016).
#pragma once

#include "attend/ops/recurrent.h"

namespace attend {

struct MaskedOptions {
  RecurrentOptions layer = {};
  // What h is multiplied with before its projection, [sequences, hidden]: the same at all steps.
  Tensor mask = {};
};

// As recurrent() is, step by step.
RecurrentResult recurrent_masked(const Tensor& x, const Packing& packing,
                                 const RecurrentWeights& weights, const RecurrentState& initial,
                                 const MaskedOptions& options);

}  // namespace attend
