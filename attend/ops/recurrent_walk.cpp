#include "attend/ops/recurrent_walk.h"

#include <algorithm>

#include "attend/base/parallel.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/gates.h"
#include "attend/kernels/gemm.h"
#include "attend/ops/matrix.h"

namespace attend {
namespace {

using kernels::Matrix;
using kernels::MutableMatrix;
using kernels::PackedMatrix;
using Step = RecurrentSchedule::Step;

// The rows of a tensor from `row` on, or null if it is undefined.
MutableMatrix rows_from(const Tensor& x, size_t row) {
  if (!x.defined()) return {nullptr, 0};
  return {x.data() + row * x.stride(), x.stride()};
}
Matrix input(MutableMatrix x) { return {x.data, x.stride}; }

MutableMatrix block(MutableMatrix x, size_t column) { return {x.data + column, x.stride}; }

// What each step multiplies its rows with. Packed where that pays, which is from two steps on.
class StepMatrix {
 public:
  StepMatrix(size_t k, size_t n, Matrix b, size_t steps) : k_(k), n_(n), b_(b) {
    if (steps > 1) packed_ = PackedMatrix(k, n, b);
  }
  // c (rows, n) = a (rows, k) b
  void multiply(size_t rows, MutableMatrix a, MutableMatrix c,
                const kernels::GemmOptions& options) const {
    if (packed_.empty()) return kernels::gemm(rows, n_, k_, input(a), b_, c, options);
    kernels::gemm(rows, input(a), packed_, c, options);
  }

 private:
  size_t k_, n_;
  Matrix b_;
  PackedMatrix packed_;
};

// The rows of a time step that belong to a run of slots.
struct StepRows {
  StepRows(const RecurrentWalk& walk, RecurrentSchedule::Slots slots, size_t t)
      : step(part_of(walk.schedule, slots, t)),
        next(part_of(walk.schedule, slots, t + 1)),
        gates(rows_from(walk.gates, step.row)),
        h_prev(rows_from(walk.h_prev, step.row)),
        h_projected(rows_from(walk.h_projected(), step.row)),
        mask(rows_from(walk.mask, slots.begin)),
        c(rows_from(walk.c, step.row)),
        c_prev(t == 0 ? rows_from(walk.c_first, slots.begin)
                      : rows_from(walk.c, part_of(walk.schedule, slots, t - 1).row)),
        packed_rows(walk.schedule.rows.data() + step.row) {}

  static Step part_of(const RecurrentSchedule& schedule, RecurrentSchedule::Slots slots, size_t t) {
    if (t >= schedule.steps.size() || schedule.steps[t].rows <= slots.begin) return {0, 0};
    const auto [row, rows] = schedule.steps[t];
    return {row + slots.begin, std::min(rows, slots.end) - slots.begin};
  }

  Step step, next;
  MutableMatrix gates, h_prev, h_projected, mask, c, c_prev;
  const int32_t* packed_rows;
};

// How many time steps a run of slots takes.
size_t step_count(const RecurrentSchedule& schedule, RecurrentSchedule::Slots slots) {
  const auto ended = [&](const Step& step) { return step.rows <= slots.begin; };
  return static_cast<size_t>(std::ranges::find_if(schedule.steps, ended) - schedule.steps.begin());
}

// Sequences are independent of each other: with enough of them each thread walks some, and no
// thread ever waits for another. With fewer the threads share the products of each step. Neither
// the order of any sum nor any row depends on this choice, so that the bits do not.
template <typename Body>
void for_parts(const RecurrentWalk& walk, Body&& body) {
  constexpr size_t kCachedWeights = size_t{1} << 16;  // floats that stay near a core
  const size_t weights = walk.hidden * walk.hidden * gate_count(walk.cell);
  const size_t least = weights <= kCachedWeights ? 4 : 16;
  const size_t threads = static_cast<size_t>(thread_count());
  const auto parts =
      walk.schedule.parts(walk.schedule.sequences.size() >= least * threads ? threads : 1);
  parallel_chunks(parts.size(), [&](size_t i) { body(parts[i]); });
}

// y = x times the mask, of the step's rows; all of them lie side by side.
void apply_mask(const RecurrentWalk& walk, const StepRows& at, MutableMatrix x, MutableMatrix y) {
  kernels::multiply(x.data, at.mask.data, y.data, at.step.rows * walk.hidden);
}

void step_forward(const RecurrentWalk& walk, const StepRows& at, const kernels::GateInputs& in,
                  const Tensor& y, bool h_zero) {
  const kernels::GateOutputs out{.y = rows_from(y, 0),
                                 .y_rows = at.packed_rows,
                                 .h = rows_from(walk.h_prev, at.next.row),
                                 .h_rows = at.next.rows};
  switch (walk.cell) {
    case Cell::kRnnTanh:
    case Cell::kRnnRelu:
      return kernels::rnn_step({in, rnn_activation(walk.cell), out});
    case Cell::kLstm:
      return kernels::lstm_step({in, input(at.c_prev), at.c, out});
    case Cell::kGru:
      return kernels::gru_step({in, h_zero ? Matrix{nullptr, 0} : input(at.h_prev), out,
                                block(at.gates, 3 * walk.hidden)});
  }
}

void step_backward(const RecurrentWalk& walk, const StepRows& at,
                   const kernels::GateGradients& grad, MutableMatrix dc) {
  switch (walk.cell) {
    case Cell::kRnnTanh:
    case Cell::kRnnRelu:
      return kernels::rnn_backward({grad, rnn_activation(walk.cell), input(at.gates)});
    case Cell::kLstm:
      return kernels::lstm_backward({grad, input(at.gates), input(at.c_prev), input(at.c), dc});
    case Cell::kGru: {
      const MutableMatrix h_n = block(at.gates, 3 * walk.hidden);
      return kernels::gru_backward({grad, input(at.gates), input(h_n), input(at.h_prev), h_n});
    }
  }
}

}  // namespace

size_t blocks_kept(Cell cell) { return cell == Cell::kGru ? 4 : gate_count(cell); }

std::span<const GateRun> hidden_runs(Cell cell) {
  static constexpr GateRun kRnn[] = {{0, 0, 1}}, kLstm[] = {{0, 0, 4}};
  static constexpr GateRun kGru[] = {{0, 0, 2}, {3, 2, 1}};
  if (cell == Cell::kGru) return kGru;
  return cell == Cell::kLstm ? std::span(kLstm) : std::span(kRnn);
}

kernels::RnnActivation rnn_activation(Cell cell) {
  return cell == Cell::kRnnRelu ? kernels::RnnActivation::kRelu : kernels::RnnActivation::kTanh;
}

void walk_forward(RecurrentWalk& walk, const RecurrentWeights& weights, bool h_given,
                  const Tensor& y) {
  const size_t hidden = walk.hidden, columns = gate_count(walk.cell) * hidden;
  const StepMatrix weight(hidden, columns, matrix(weights.hidden, true),
                          walk.schedule.steps.size());
  const float* bias = weights.hidden_bias.defined() ? weights.hidden_bias.data() : nullptr;
  const Tensor h_gates = Tensor::empty({walk.schedule.sequences.size(), columns});
  for_parts(walk, [&](RecurrentSchedule::Slots slots) {
    const MutableMatrix projected = rows_from(h_gates, slots.begin);
    for (size_t t = 0; t < step_count(walk.schedule, slots); ++t) {
      const StepRows at(walk, slots, t);
      const bool h_zero = t == 0 && !h_given;
      if (walk.mask.defined()) apply_mask(walk, at, at.h_prev, at.h_projected);
      kernels::GateInputs in{at.step.rows, hidden, at.gates};
      if (h_zero) {
        in.h_bias = bias;
      } else {
        weight.multiply(at.step.rows, at.h_projected, projected, {.bias = bias});
        in.h_gates = input(projected);
      }
      step_forward(walk, at, in, y, h_zero);
    }
  });
}

void walk_backward(RecurrentWalk& walk, const Tensor& weight, const Tensor& dy,
                   const StateGradients& state, bool h_wanted) {
  const size_t hidden = walk.hidden;
  std::vector<StepMatrix> weights;
  for (const GateRun& run : hidden_runs(walk.cell)) {
    const size_t size = run.count * hidden;
    weights.emplace_back(size, hidden, matrix(weight.slice_rows(run.weight * hidden, size)),
                         walk.schedule.steps.size());
  }
  const bool masked = walk.mask.defined(), gru = walk.cell == Cell::kGru;
  const Tensor through = masked && gru ? Tensor::empty(state.dh.shape()) : state.dh;
  for_parts(walk, [&](RecurrentSchedule::Slots slots) {
    const MutableMatrix dh = rows_from(state.dh, slots.begin);
    const MutableMatrix dc = rows_from(state.dc, slots.begin);
    const MutableMatrix d_projected = rows_from(through, slots.begin);
    for (size_t t = step_count(walk.schedule, slots); t-- > 0;) {
      const StepRows at(walk, slots, t);
      step_backward(walk, at,
                    {at.step.rows, hidden, input(rows_from(dy, 0)), dh, at.gates, at.packed_rows},
                    dc);
      if (t == 0 && !h_wanted) break;
      // Part of a GRU's h goes straight to the next, and its gradient is in dh already.
      float beta = gru && !masked ? 1.0f : 0.0f;
      for (size_t i = 0; i < weights.size(); ++i) {
        const GateRun run = hidden_runs(walk.cell)[i];
        weights[i].multiply(at.step.rows, block(at.gates, run.kept * hidden), d_projected,
                            {.beta = beta});
        beta = 1.0f;
      }
      if (masked) {
        kernels::multiply(d_projected.data, at.mask.data, dh.data, at.step.rows * hidden, gru);
      }
    }
  });
}

}  // namespace attend
