// An LSTM that attends to its memory (Cheng et al., 2016, "Long short-term memory-networks for
// machine reading"): a step starts from a mixture of all earlier states instead of the last one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/attention/cache.h"
#include "attend/attention/recall.h"
#include "attend/nn/linear.h"
#include "attend/ops/recurrent.h"

namespace attend {

struct LstmnConfig {
  size_t input = 0;      // width of x
  size_t hidden = 0;     // width of h
  size_t attention = 0;  // width in which steps are compared; 0: hidden
};

// All steps of a batch so far, on the tape.
struct LstmnState {
  size_t sequences = 0;
  std::vector<PastStep> past = {};
  Tensor mixture = {};  // of the last step, [sequences, 2 hidden]; none before the second

  // Sequence i becomes what sequence parents[i] was; there may be more or fewer than before.
  void reorder(std::span<const size_t> parents);
};

// At step t, over the steps i before it,
//   score_i = v.tanh(W_h h_i + W_x x_t + W_m m_t-1),
//   (m_t, n_t) = sum_i softmax(score)_i (h_i, c_i),
//   (h_t, c_t) = LSTM(x_t, (m_t, n_t)),
// with zeros for m and n at the first step. Memory grows linearly with the length; only the weights
// take its square.
struct Lstmn {
  LstmnConfig config;
  std::string name;                              // for a Recorder
  Linear from_hidden, from_input, from_mixture;  // W_h (with the bias), W_x, W_m
  Tensor vector;                                 // v [attention]
  RecurrentWeights lstm;

  Lstmn() = default;
  Lstmn(const LstmnConfig& config, Rng& rng);

  // x [rows, input], the sequences of `packing`, to h of each row, [rows, hidden].
  Tensor operator()(const Tensor& x, const Packing& packing) const;

  // The same in steps: x [sequences, input] is the next row of each sequence, and the result its h.
  LstmnState start(size_t sequences) const;
  Tensor step(const Tensor& x, LstmnState& state) const;

  // The same off the tape, for sequences with any number of earlier steps each: x [rows, input] has
  // their next rows, divided by `packing`, and the result is their h. The cache, which starts as
  // KeyValueCache(sequences), has a key W_h h and values (h, c, m) for each step.
  Tensor step(const Tensor& x, const Packing& packing, KeyValueCache& cache) const;

  void visit(Visitor& v);
};

}  // namespace attend
