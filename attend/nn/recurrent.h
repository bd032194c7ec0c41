// RNN, LSTM and GRU as modules: several layers, one or both directions.
#pragma once

#include <string>
#include <vector>

#include "attend/nn/init.h"
#include "attend/nn/visit.h"
#include "attend/ops/recurrent.h"

namespace attend {

struct RecurrentConfig {
  Cell cell = Cell::kLstm;
  size_t input = 0;   // width of x
  size_t hidden = 0;  // width of h
  size_t layers = 1;
  bool bidirectional = false;  // the output is twice as wide: forward, then reverse
  float dropout = 0.0f;        // on the output of each layer but the last, in training
  bool variational = false;    // dropout uses one mask for all rows of a sequence
  // Dropout of h before its projection, in training: one mask for all rows of a call (Gal and
  // Ghahramani, 2016).
  float recurrent_dropout = 0.0f;
  bool bias = true;

  bool operator==(const RecurrentConfig&) const = default;
};

// Layers of RNN, LSTM or GRU over packed sequences. Copies share their parameters.
struct Recurrent {
  // One per layer and direction: layer 0 forward, layer 0 reverse if bidirectional, layer 1 forward
  // ...
  using States = std::vector<RecurrentState>;
  // What a call gives.
  struct Output {
    Tensor output;  // [rows, hidden], or twice as wide
    States states;  // after the last row that each direction read
  };

  RecurrentConfig config;
  const char* stage = nullptr;  // name by which a RowTap sees the layers; null: it does not
  std::vector<RecurrentWeights> weights;  // in the order of States

  Recurrent() = default;
  Recurrent(const RecurrentConfig& config, Rng& rng);  // throws ConfigError

  // x [rows, input] holds the sequences of `packing`; without initial states they are zero.
  Output operator()(const Tensor& x, const Packing& packing, const States& initial = {}) const;

  // One step of a decoder: the states after one more row of each sequence, x [sequences, input].
  // The output is the h of the last state. Results are those of a call on the whole sequence.
  // Throws ConfigError if bidirectional.
  States step(const Tensor& x, const States& states = {}) const;

  // Named as in PyTorch: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_ih_l0_reverse
  // ...
  void visit(Visitor& v);

  size_t directions() const { return config.bidirectional ? 2 : 1; }  // 1 or 2
};

}  // namespace attend
