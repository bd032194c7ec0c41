#include "attend/ops/recurrent.h"

#include <algorithm>
#include <span>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/parallel.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/reduce.h"
#include "attend/ops/matrix.h"
#include "attend/ops/recurrent_walk.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr Named<Cell> kCells[] = {{Cell::kRnnTanh, "rnn_tanh"},
                                  {Cell::kRnnRelu, "rnn_relu"},
                                  {Cell::kLstm, "lstm"},
                                  {Cell::kGru, "gru"}};

void check_state(const Tensor& state, const char* name, const Shape& expected) {
  if (state.defined() && state.shape() != expected) {
    throw ShapeError("recurrent: initial {} is {} but should be {}, one row a sequence", name,
                     state.shape(), expected);
  }
}

void check(const Tensor& x, const Packing& packing, const RecurrentWeights& weights,
           const RecurrentState& initial, const RecurrentOptions& options) {
  const auto& [cell, reverse, mask] = options;
  const size_t gates = gate_count(cell);
  const Shape &input = weights.input.shape(), &hidden = weights.hidden.shape();
  if (x.rank() != 2 || x.extent(0) != packing.rows()) {
    throw ShapeError("recurrent: input {} does not fit sequences of {} rows in all", x.shape(),
                     packing.rows());
  }
  if (hidden.rank() != 2 || hidden[0] != gates * hidden[1]) {
    throw ShapeError("recurrent: hidden weight {} of {} should be [{} hidden, hidden]", hidden,
                     name_of(cell), gates);
  }
  if (input.rank() != 2 || input[0] != hidden[0] || input[1] != x.width()) {
    throw ShapeError("recurrent: input weight {} does not fit input {} and hidden weight {}", input,
                     x.shape(), hidden);
  }
  for (const Tensor* bias : {&weights.input_bias, &weights.hidden_bias}) {
    if (bias->defined() && bias->shape() != Shape{hidden[0]}) {
      throw ShapeError("recurrent: bias {} does not fit hidden weight {}", bias->shape(), hidden);
    }
  }
  const Shape state{packing.count(), hidden[1]};
  check_state(initial.h, "h", state);
  check_state(initial.c, "c", state);
  if (mask.defined() && mask.shape() != state) {
    throw ShapeError("recurrent: a mask of {}, but it should be {}, one row a sequence",
                     mask.shape(), state);
  }
  if (initial.c.defined() && cell != Cell::kLstm) {
    throw ShapeError("recurrent: an initial c {} was given to {}, which has none",
                     initial.c.shape(), name_of(cell));
  }
}

float* row_of(const Tensor& x, int32_t row) {
  return x.data() + static_cast<size_t>(row) * x.stride();
}

// Rows are copied in pieces of some microseconds.
size_t row_grain(size_t width) { return std::max<size_t>(1, 16384 / std::max<size_t>(width, 1)); }

// The rows of x that are named, in that order; zeros where x is undefined.
void gather(const Tensor& x, std::span<const int32_t> rows, const Tensor& to) {
  parallel_for(rows.size(), row_grain(to.width()), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      float* row = to.data() + i * to.stride();
      if (x.defined()) {
        std::copy_n(row_of(x, rows[i]), to.width(), row);
      } else {
        std::fill_n(row, to.width(), 0.0f);
      }
    }
  });
}

// The gradient of that.
void scatter(const Tensor& dy, std::span<const int32_t> rows, const Gradient& dx) {
  parallel_for(rows.size(), row_grain(dy.width()), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const float* from = dy.data() + i * dy.stride();
      float* to = row_of(dx.tensor, rows[i]);
      if (dx.add) {
        for (size_t j = 0; j < dy.width(); ++j) to[j] += from[j];
      } else {
        std::copy_n(from, dy.width(), to);
      }
    }
  });
}

// One call of a layer, forwards and backwards.
struct Layer {
  Tensor x;
  RecurrentWeights weights;
  RecurrentState initial;
  RecurrentWalk walk;
  Tensor mask = {};      // [sequences, hidden], or undefined
  Tensor x_walked = {};  // (rows, in), in the order of the walk

  size_t rows() const { return x.rows(); }
  size_t in() const { return x.width(); }
  size_t count() const { return schedule().sequences.size(); }
  size_t hidden() const { return walk.hidden; }
  size_t columns() const { return weights.input.rows(); }  // of the projections of x
  bool has_c() const { return walk.cell == Cell::kLstm; }
  const RecurrentSchedule& schedule() const { return walk.schedule; }

  Tensor forward();
  void project();
  void start();
  void start_mask();
  void finish(const Tensor& y) const;

  void backward(const Tensor& dy, Grads& grads);
  void weight_gradients(Grads& grads) const;
  void bias_gradients(Grads& grads) const;
  void input_gradient(Grads& grads) const;
};

Tensor Layer::forward() {
  project();
  start();
  Tensor y = Tensor::empty({rows() + (has_c() ? 2 : 1) * count(), hidden()});
  walk_forward(walk, weights, initial.h.defined(), y);
  finish(y);
  return y;
}

// The inputs of all steps at once.
void Layer::project() {
  x_walked = x.detach();
  if (!schedule().in_place()) {
    x_walked = Tensor::empty(x.shape());
    gather(x, schedule().rows, x_walked);
  }
  walk.gates = Tensor::empty({rows(), blocks_kept(walk.cell) * hidden()});
  kernels::gemm(rows(), columns(), in(), matrix(x_walked), matrix(weights.input, true),
                target(walk.gates),
                {.bias = weights.input_bias.defined() ? weights.input_bias.data() : nullptr});
}

// The states that the first steps start from.
void Layer::start() {
  walk.h_prev = Tensor::empty({rows(), hidden()});
  if (!schedule().steps.empty()) {
    const size_t live = schedule().steps.front().rows;
    gather(initial.h, std::span(schedule().sequences).first(live), walk.h_prev.slice_rows(0, live));
  }
  if (mask.defined()) start_mask();
  if (!has_c()) return;
  walk.c = Tensor::empty({rows(), hidden()});
  if (!initial.c.defined()) return;
  walk.c_first = Tensor::empty({count(), hidden()});
  gather(initial.c, schedule().sequences, walk.c_first);
}

// A GRU's h goes past the projection too, and is kept as it is.
void Layer::start_mask() {
  walk.mask = Tensor::empty({count(), hidden()});
  gather(mask, schedule().sequences, walk.mask);
  walk.h_masked = walk.cell == Cell::kGru ? Tensor::empty(walk.h_prev.shape()) : walk.h_prev;
}

// The states after the last step of each sequence, behind the output.
void Layer::finish(const Tensor& y) const {
  const auto keep = [&](const float* last, const Tensor& first, int32_t sequence, float* to) {
    if (last == nullptr && first.defined()) last = row_of(first, sequence);
    last != nullptr ? std::copy_n(last, hidden(), to) : std::fill_n(to, hidden(), 0.0f);
  };
  for (size_t slot = 0; slot < count(); ++slot) {
    const int32_t sequence = schedule().sequences[slot], last = schedule().last[slot];
    const bool empty = last < 0;
    float* to = y.data() + (rows() + static_cast<size_t>(sequence)) * hidden();
    const float* h = empty ? nullptr : row_of(y, schedule().rows[static_cast<size_t>(last)]);
    keep(h, initial.h, sequence, to);
    if (!has_c()) continue;
    keep(empty ? nullptr : row_of(walk.c, last), initial.c, sequence, to + count() * hidden());
  }
}

void Layer::backward(const Tensor& dy, Grads& grads) {
  const StateGradients state{Tensor::empty({count(), hidden()}),
                             has_c() ? Tensor::empty({count(), hidden()}) : Tensor()};
  gather(dy.slice_rows(rows(), count()), schedule().sequences, state.dh);
  if (has_c()) gather(dy.slice_rows(rows() + count(), count()), schedule().sequences, state.dc);
  walk_backward(walk, weights.hidden, dy, state, grads.wants(initial.h));
  weight_gradients(grads);
  bias_gradients(grads);
  input_gradient(grads);
  if (grads.wants(initial.h)) scatter(state.dh, schedule().sequences, grads.of(initial.h));
  if (grads.wants(initial.c)) scatter(state.dc, schedule().sequences, grads.of(initial.c));
}

// Over all steps at once: dW = d_gates^T x, d_gates^T h_prev, masked where it was.
void Layer::weight_gradients(Grads& grads) const {
  if (grads.wants(weights.input)) {
    const Gradient dw = grads.of(weights.input);
    kernels::gemm(columns(), in(), rows(), matrix(walk.gates, true), matrix(x_walked),
                  target(dw.tensor), into(dw));
  }
  if (!grads.wants(weights.hidden)) return;
  const Gradient dw = grads.of(weights.hidden);
  for (const GateRun& run : hidden_runs(walk.cell)) {
    const size_t size = run.count * hidden();
    kernels::gemm(size, hidden(), rows(),
                  matrix(walk.gates.slice_columns(run.kept * hidden(), size), true),
                  matrix(walk.h_projected()),
                  target(dw.tensor.slice_rows(run.weight * hidden(), size)), into(dw));
  }
}

// Both biases are added to the same sums, but for those of a GRU's n: one pass sums all blocks.
void Layer::bias_gradients(Grads& grads) const {
  if (!grads.wants(weights.input_bias) && !grads.wants(weights.hidden_bias)) return;
  const Tensor sums = Tensor::empty({walk.gates.width()});
  kernels::sum_rows({walk.gates.data(), rows(), sums.size(), sums.size()}, sums.data());
  if (grads.wants(weights.input_bias)) {
    const Gradient db = grads.of(weights.input_bias);
    kernels::scale(1.0f, sums.data(), db.data(), columns(), db.add);
  }
  if (!grads.wants(weights.hidden_bias)) return;
  const Gradient db = grads.of(weights.hidden_bias);
  for (const GateRun& run : hidden_runs(walk.cell)) {
    kernels::scale(1.0f, sums.data() + run.kept * hidden(), db.data() + run.weight * hidden(),
                   run.count * hidden(), db.add);
  }
}

void Layer::input_gradient(Grads& grads) const {
  if (!grads.wants(x)) return;
  const Gradient dx = grads.of(x);
  const auto product = [&](const Tensor& to, const kernels::GemmOptions& options) {
    kernels::gemm(rows(), in(), columns(), matrix(walk.gates), matrix(weights.input), target(to),
                  options);
  };
  if (schedule().in_place()) return product(dx.tensor, into(dx));
  const Tensor dx_walked = Tensor::empty(x.shape());
  product(dx_walked, {});
  scatter(dx_walked, schedule().rows, dx);
}

}  // namespace

std::string_view name_of(Cell cell) { return name_from_value(kCells, cell); }

size_t gate_count(Cell cell) { return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1; }

Tensor recurrent_rows(const Tensor& x, const Packing& packing, const RecurrentWeights& weights,
                      const RecurrentState& initial, const RecurrentOptions& options) {
  check(x, packing, weights, initial, options);
  Layer layer{x, weights, initial,
              RecurrentWalk{options.cell, weights.hidden.extent(1),
                            RecurrentSchedule(packing, options.reverse)},
              options.mask};
  const Tensor y = layer.forward();
  return record(y,
                {x, weights.input, weights.hidden, weights.input_bias, weights.hidden_bias,
                 initial.h, initial.c},
                [layer = std::move(layer)](const Tensor& dy, Grads& grads) mutable {
                  layer.backward(dy, grads);
                });
}

RecurrentResult recurrent(const Tensor& x, const Packing& packing, const RecurrentWeights& weights,
                          const RecurrentState& initial, const RecurrentOptions& options) {
  const Tensor all = recurrent_rows(x, packing, weights, initial, options);
  const size_t rows = packing.rows(), count = packing.count();
  RecurrentResult result{all.slice_rows(0, rows), {all.slice_rows(rows, count), {}}};
  if (options.cell == Cell::kLstm) result.state.c = all.slice_rows(rows + count, count);
  return result;
}

}  // namespace attend
