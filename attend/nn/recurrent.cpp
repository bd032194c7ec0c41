#include "attend/nn/recurrent.h"

#include <cmath>

#include "attend/base/error.h"
#include "attend/nn/row_tap.h"
#include "attend/ops/dropout.h"
#include "attend/ops/shape.h"

namespace attend {

Recurrent::Recurrent(const RecurrentConfig& c, Rng& rng) : config(c) {
  if (config.input == 0 || config.hidden == 0 || config.layers == 0) {
    throw ConfigError("recurrent: input {}, hidden {} and layers {} must all be at least 1",
                      config.input, config.hidden, config.layers);
  }
  const size_t rows = gate_count(config.cell) * config.hidden;
  const float scale = 1.0f / std::sqrt(static_cast<float>(config.hidden));
  const auto fresh = [&](const Shape& shape) {
    return parameter(shape, Init::kUniform, rng, scale);
  };
  for (size_t layer = 0; layer < config.layers; ++layer) {
    const size_t in = layer == 0 ? config.input : directions() * config.hidden;
    for (size_t direction = 0; direction < directions(); ++direction) {
      RecurrentWeights w{.input = fresh({rows, in}), .hidden = fresh({rows, config.hidden})};
      if (config.bias) {
        w.input_bias = fresh({rows});
        w.hidden_bias = fresh({rows});
      }
      weights.push_back(std::move(w));
    }
  }
}

Recurrent::Output Recurrent::operator()(const Tensor& x, const Packing& packing,
                                        const States& initial) const {
  if (!initial.empty() && initial.size() != weights.size()) {
    throw ShapeError("recurrent: {} initial states do not fit {} layers in {} directions",
                     initial.size(), config.layers, directions());
  }
  Output result{.output = x, .states = {}};
  for (size_t layer = 0; layer < config.layers; ++layer) {
    if (layer > 0) {
      result.output = config.variational ? sequence_dropout(result.output, packing, config.dropout)
                                         : dropout(result.output, config.dropout);
    }
    std::vector<Tensor> outputs;
    for (size_t direction = 0; direction < directions(); ++direction) {
      const size_t i = result.states.size();
      RecurrentResult one = recurrent(
          result.output, packing, weights[i], initial.empty() ? RecurrentState{} : initial[i],
          {.cell = config.cell,
           .reverse = direction == 1,
           .mask = dropout_mask(packing.count(), config.hidden, config.recurrent_dropout)});
      outputs.push_back(one.output);
      result.states.push_back(one.state);
    }
    result.output = config.bidirectional ? concat(outputs, -1) : outputs.front();
    if (stage != nullptr) tap_rows(stage, layer, result.output);
  }
  return result;
}

Recurrent::States Recurrent::step(const Tensor& x, const States& states) const {
  if (config.bidirectional) {
    throw ConfigError("recurrent: a layer in both directions cannot go step by step");
  }
  return (*this)(x, Packing::even(x.rows(), 1), states).states;
}

void Recurrent::visit(Visitor& v) {
  for (size_t i = 0; i < weights.size(); ++i) {
    const bool reverse = i % directions() == 1;
    const std::string suffix =
        "_l" + std::to_string(i / directions()) + (reverse ? "_reverse" : "");
    v("weight_ih" + suffix, weights[i].input);
    v("weight_hh" + suffix, weights[i].hidden);
    v("bias_ih" + suffix, weights[i].input_bias);
    v("bias_hh" + suffix, weights[i].hidden_bias);
  }
}

}  // namespace attend
