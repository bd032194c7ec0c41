#include "attend/models/rnn_layers.h"

#include "attend/ops/dropout.h"
#include "attend/ops/recurrent_masked.h"
#include "attend/ops/shape.h"
#include "attend/tensor/training.h"

namespace attend {

Tensor recurrent_mask(size_t sequences, size_t hidden, float chance) {
  if (chance == 0.0f || current_training() == nullptr) return {};
  return dropout(Tensor::full({sequences, hidden}, 1.0f), chance);
}

Recurrent::Output run_layers(const Recurrent& layers, const Tensor& x, const Packing& packing,
                             const Recurrent::States& initial, float recurrent_dropout) {
  if (recurrent_dropout == 0.0f || current_training() == nullptr) {
    return layers(x, packing, initial);
  }
  const RecurrentConfig& config = layers.config;
  Recurrent::Output result{.output = x, .states = {}};
  for (size_t layer = 0; layer < config.layers; ++layer) {
    if (layer > 0) result.output = dropout(result.output, config.dropout);
    std::vector<Tensor> outputs;
    for (size_t direction = 0; direction < layers.directions(); ++direction) {
      const size_t i = result.states.size();
      const RecurrentResult one = recurrent_masked(
          result.output, packing, layers.weights[i],
          initial.empty() ? RecurrentState{} : initial[i],
          {.layer = {.cell = config.cell, .reverse = direction == 1},
           .mask = recurrent_mask(packing.count(), config.hidden, recurrent_dropout)});
      outputs.push_back(one.output);
      result.states.push_back(one.state);
    }
    result.output = concat(outputs, -1);
  }
  return result;
}

}  // namespace attend
