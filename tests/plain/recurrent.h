// Recurrent layers in double, one sequence and one number at a time.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "attend/ops/recurrent.h"
#include "tests/plain/plain.h"

namespace attend::plain {

struct RecurrentInputs {
  Plain x, input, hidden, input_bias, hidden_bias, h, c;  // c of an LSTM; others ignore it
};

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct RecurrentCellState {
  std::vector<double> h, c;
};

// The state after one more row of x; h is projected times the mask.
inline RecurrentCellState recurrent_cell(const RecurrentInputs& in, Cell cell, size_t row,
                                         const RecurrentCellState& before,
                                         const std::vector<double>& mask) {
  const size_t hidden = before.h.size();
  const auto from_x = [&](size_t gate) {
    double sum = in.input_bias.values[gate];
    for (size_t i = 0; i < in.x.width(); ++i) sum += in.input(gate, i) * in.x(row, i);
    return sum;
  };
  const auto from_h = [&](size_t gate) {
    double sum = in.hidden_bias.values[gate];
    for (size_t i = 0; i < hidden; ++i) sum += in.hidden(gate, i) * before.h[i] * mask[i];
    return sum;
  };
  const auto both = [&](size_t gate) { return from_x(gate) + from_h(gate); };
  RecurrentCellState after = before;
  for (size_t j = 0; j < hidden; ++j) {
    if (cell == Cell::kRnnTanh) {
      after.h[j] = std::tanh(both(j));
    } else if (cell == Cell::kRnnRelu) {
      after.h[j] = std::max(0.0, both(j));
    } else if (cell == Cell::kLstm) {
      const double i = sigmoid(both(j)), f = sigmoid(both(hidden + j));
      const double g = std::tanh(both(2 * hidden + j)), o = sigmoid(both(3 * hidden + j));
      after.c[j] = f * before.c[j] + i * g;
      after.h[j] = o * std::tanh(after.c[j]);
    } else {
      const double r = sigmoid(both(j)), z = sigmoid(both(hidden + j));
      const double n = std::tanh(from_x(2 * hidden + j) + r * from_h(2 * hidden + j));
      after.h[j] = (1 - z) * n + z * before.h[j];
    }
  }
  return after;
}

// Output, final h and, of an LSTM, final c below each other, as recurrent_rows gives them.
inline Plain recurrent(const RecurrentInputs& in, const Packing& packing,
                       const RecurrentOptions& options) {
  const size_t rows = packing.rows(), count = packing.count(), hidden = in.hidden.width();
  const bool lstm = options.cell == Cell::kLstm;
  Plain y({rows + (lstm ? 2 : 1) * count, hidden});
  for (size_t s = 0; s < count; ++s) {
    RecurrentCellState state{std::vector<double>(hidden), std::vector<double>(hidden)};
    std::vector<double> mask(hidden, 1.0);
    for (size_t j = 0; j < hidden; ++j) {
      if (options.mask.defined()) mask[j] = double{options.mask.data()[s * hidden + j]};
      state.h[j] = in.h(s, j);
      if (lstm) state.c[j] = in.c(s, j);
    }
    for (size_t t = 0; t < packing.length(s); ++t) {
      const size_t row = options.reverse ? packing.end(s) - 1 - t : packing.begin(s) + t;
      state = recurrent_cell(in, options.cell, row, state, mask);
      for (size_t j = 0; j < hidden; ++j) y(row, j) = state.h[j];
    }
    for (size_t j = 0; j < hidden; ++j) {
      y(rows + s, j) = state.h[j];
      if (lstm) y(rows + count + s, j) = state.c[j];
    }
  }
  return y;
}

}  // namespace attend::plain
