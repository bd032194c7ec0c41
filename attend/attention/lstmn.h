// The LSTM whose memory is attended (Cheng et al., 2016, "Long short-term memory-networks for
// machine reading"): instead of its last state, a step starts from a mixture of all states before.
#pragma once

#include <string>

#include "attend/nn/linear.h"
#include "attend/ops/recurrent.h"

namespace attend {

struct LstmnConfig {
  size_t input = 0;      // width of x
  size_t hidden = 0;     // width of h
  size_t attention = 0;  // width in which steps are compared; 0: hidden
};

// At step t, over the steps i before it,
//   score_i = v.tanh(W_h h_i + W_x x_t + W_m m_t-1),
//   (m_t, n_t) = sum_i softmax(score)_i (h_i, c_i),
//   (h_t, c_t) = LSTM(x_t, (m_t, n_t)),
// with zeros for m and n at the first step. Memory grows with the length, and with its square only
// in the weights.
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

  void visit(Visitor& v);
};

}  // namespace attend
