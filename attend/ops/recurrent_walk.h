// The walk of a recurrent layer through time, and back. What does not depend on the step before,
// the products of the inputs and those of the weights' gradients, is left to recurrent.cpp. Not for
// use outside ops/.
#pragma once

#include <span>

#include "attend/kernels/gates.h"
#include "attend/ops/recurrent.h"
#include "attend/ops/recurrent_schedule.h"

namespace attend {

// One pass of a layer, and what its gradient needs. Rows are in the order of the schedule.
struct RecurrentWalk {
  Cell cell;
  size_t hidden;
  RecurrentSchedule schedule;
  Tensor gates;   // (rows, blocks_kept hidden): projections of x; then activated; then gradients
  Tensor h_prev;  // (rows, hidden): what each row was computed from; those of the first steps given
  Tensor c;       // (rows, hidden), LSTM
  Tensor c_first;        // (slots, hidden), LSTM; undefined if zero
  Tensor mask = {};      // (slots, hidden), or undefined
  Tensor h_masked = {};  // (rows, hidden): h_prev times the mask; h_prev itself where that is all
                         // that is asked of it

  const Tensor& h_projected() const { return mask.defined() ? h_masked : h_prev; }
};

// Blocks of `hidden` columns kept of each row: the gates, and for a GRU the part of n that comes
// from h.
size_t blocks_kept(Cell cell);

// Of a simple recurrent cell.
kernels::RnnActivation rnn_activation(Cell cell);

// Runs of gates whose sums h is projected into: where they are among the blocks kept of a row, and
// among those of the weight. They are the same but for the n of a GRU, which has two sums.
struct GateRun {
  size_t kept, weight, count;
};
std::span<const GateRun> hidden_runs(Cell cell);

// y (rows, hidden) gets h in packed order. h_given tells whether h_prev of the first steps is not
// zero.
void walk_forward(RecurrentWalk& walk, const RecurrentWeights& weights, bool h_given,
                  const Tensor& y);

// The gradient that arrives at the states of each slot (slots, hidden): at the final ones on entry,
// at the initial ones on exit. dc: LSTM.
struct StateGradients {
  Tensor dh, dc;
};

// dy (rows, hidden) is in packed order. Turns gates into gradients. Computes dh of the initial
// state only if it is wanted.
void walk_backward(RecurrentWalk& walk, const Tensor& weight, const Tensor& dy,
                   const StateGradients& state, bool h_wanted);

}  // namespace attend
