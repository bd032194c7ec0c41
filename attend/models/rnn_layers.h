// Layers of an RNN with dropout between them and inside the recurrence.
#pragma once

#include "attend/nn/recurrent.h"

namespace attend {

// A mask [sequences, hidden] for all steps of a walk (Gal and Ghahramani, 2016); undefined outside
// training or without a chance.
Tensor recurrent_mask(size_t sequences, size_t hidden, float chance);

// layers(x, packing, initial), with such a mask for each layer and direction.
Recurrent::Output run_layers(const Recurrent& layers, const Tensor& x, const Packing& packing,
                             const Recurrent::States& initial, float recurrent_dropout);

}  // namespace attend
