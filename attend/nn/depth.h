// How deep in a model its parameters are, by their names: layers are counted in the order of the
// visit. Rates by layer, gradual unfreezing and new top layers go by it.
#pragma once

#include <span>
#include <vector>

#include "attend/tensor/named.h"

namespace attend {

// A parameter belongs to a layer if its name has a number ("layers.0.query.weight") or a suffix of
// a recurrent layer ("weight_ih_l0"). Those before the first layer, such as embeddings, have depth
// 0, the layers 1, 2, ... `layers`, and what comes after the last, such as an output layer, has
// layers + 1. What is between two layers belongs to the lower one.
struct Depths {
  std::vector<size_t> of;  // each parameter
  size_t layers = 0;
};
Depths depths_of(std::span<const NamedTensor> parameters);

}  // namespace attend
