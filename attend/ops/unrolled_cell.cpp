// The step of a recurrent layer.
#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/gates.h"
#include "attend/kernels/reduce.h"
#include "attend/ops/matrix.h"
#include "attend/ops/recurrent_walk.h"
#include "attend/ops/rows.h"
#include "attend/ops/shape.h"
#include "attend/ops/unrolled.h"
#include "attend/ops/unrolled_rows.h"

namespace attend {

using kernels::Matrix;
using kernels::MutableMatrix;
using kernels::PackedMatrix;

namespace {

const float* data_of(const Tensor& x) { return x.defined() ? x.data() : nullptr; }

}  // namespace

struct UnrolledCell::Walk {
  RecurrentWeights weights;
  UnrolledCellOptions options;
  UnrolledRows rows;
  PackedMatrix x_forward, h_forward;  // W^T; of x the columns that come step by step
  PackedMatrix x_backward;            // W, once a gradient comes
  std::vector<PackedMatrix> h_backward;
  Tensor gates;  // [rows, blocks_kept hidden]: projections; then activated; then gradients
  Tensor x;      // [rows, in], the known columns first
  Tensor h;      // [rows, hidden]: what was projected

  Cell cell() const { return options.cell; }
  bool lstm() const { return cell() == Cell::kLstm; }
  size_t hidden() const { return weights.hidden.extent(1); }
  size_t columns() const { return weights.hidden.extent(0); }
  size_t in() const { return weights.input.extent(1); }
  size_t known() const { return options.known.defined() ? options.known.width() : 0; }
  size_t fresh() const { return in() - known(); }  // columns of the input that come with a step
  bool keeps() const { return gates.defined(); }

  // What a step works on: rows of the above where they are kept.
  struct Step {
    size_t number, count;
    Tensor gates, x, h;  // x: the fresh columns
    RecurrentState before;
  };

  void check(const Tensor& input, const RecurrentState& before) const;
  void start();
  Step next(const Tensor& input, const RecurrentState& before);
  Tensor forward(const Step& step) const;
  void activate(const Step& step, const kernels::GateInputs& in, const Tensor& y) const;

  void backward(const Step& step, const Tensor& y, const Tensor& dy, const Tensor& input,
                Grads& grads);
  Tensor deactivate(const Step& step, const Tensor& y, const Tensor& dy, Grads& grads) const;
  void state_gradient(const Step& step, const Tensor& direct, Grads& grads);
  void finish(Grads& grads) const;
  void bias_gradients(Grads& grads) const;
};

UnrolledCell::UnrolledCell(const RecurrentWeights& weights, const UnrolledCellOptions& options) {
  const Shape &input = weights.input.shape(), &hidden = weights.hidden.shape();
  if (hidden.rank() != 2 || input.rank() != 2 || input[0] != hidden[0] ||
      hidden[0] != gate_count(options.cell) * hidden[1]) {
    throw ShapeError("unrolled: weights {} and {} are not those of {}", input, hidden,
                     name_of(options.cell));
  }
  if (options.known.defined() &&
      (options.known.rank() != 2 || options.known.rows() != options.rows ||
       options.known.width() > input[1])) {
    throw ShapeError("unrolled: known inputs {} of {} rows do not fit weight {}",
                     options.known.shape(), options.rows, input);
  }
  walk_ = std::make_shared<Walk>(
      Walk{.weights = weights, .options = options, .rows = UnrolledRows(options.rows)});
  if (options.mask.defined()) walk_->options.mask = contiguous(options.mask);
  walk_->start();
  start_ = record(
      Tensor::zeros({1}),
      {weights.input, weights.hidden, weights.input_bias, weights.hidden_bias, options.known},
      [walk = walk_](const Tensor&, Grads& grads) { walk->finish(grads); });
}

RecurrentState UnrolledCell::step(const Tensor& x, const RecurrentState& before) const {
  walk_->check(x, before);
  const Walk::Step step = walk_->next(x, before);
  const Tensor y = walk_->forward(step);
  const Tensor all = record(
      y, {x, before.h, before.c, start_},
      [walk = walk_, start = start_, step, x, y = y.detach()](const Tensor& dy, Grads& grads) {
        walk->backward(step, y, dy, x, grads);
        if (grads.wants(start)) grads.accumulator(start);
      });
  const size_t n = step.count;
  return {all.slice_rows(0, n), walk_->lstm() ? all.slice_rows(n, n) : Tensor()};
}

void UnrolledCell::Walk::check(const Tensor& input, const RecurrentState& before) const {
  const Shape& state = before.h.shape();
  if (!before.h.defined() || state.rank() != 2 || state[1] != hidden() ||
      before.c.defined() != lstm() || (lstm() && before.c.shape() != state)) {
    throw ShapeError("unrolled: a state of {} is not [sequences, {}]",
                     before.h.defined() ? state.text() : "undefined", hidden());
  }
  const size_t width = input.defined() ? input.width() : 0;
  if (width != fresh() || (input.defined() && input.shape() != Shape{state[0], width})) {
    throw ShapeError("unrolled: a step of {} sequences needs inputs [{}, {}], not {}", state[0],
                     state[0], fresh(), input.defined() ? input.shape().text() : "undefined");
  }
  if (options.mask.defined() &&
      (options.mask.rows() < state[0] || options.mask.width() != hidden())) {
    throw ShapeError("unrolled: a mask {} does not fit a state {}", options.mask.shape(), state);
  }
}

// Projects what is known, for all steps at once.
void UnrolledCell::Walk::start() {
  h_forward = {hidden(), columns(), matrix(weights.hidden, true)};
  if (fresh() > 0) {
    x_forward = {fresh(), columns(), matrix(weights.input.slice_columns(known(), fresh()), true)};
  }
  const size_t count = options.rows;
  if (count == 0) return;
  gates = Tensor::empty({count, blocks_kept(cell()) * hidden()});
  x = Tensor::empty({count, in()});
  h = Tensor::empty({count, hidden()});
  if (known() == 0) return;
  kernels::copy_rows(rows_of(options.known), mutable_rows_of(x.slice_columns(0, known())));
  kernels::gemm(count, columns(), known(), matrix(x),
                matrix(weights.input.slice_columns(0, known()), true), target(gates),
                {.bias = data_of(weights.input_bias)});
}

UnrolledCell::Walk::Step UnrolledCell::Walk::next(const Tensor& input,
                                                  const RecurrentState& before) {
  const size_t count = before.h.rows();
  Step step{.number = 0, .count = count, .gates = {}, .x = {}, .h = {}, .before = before};
  if (keeps()) {
    step.number = rows.take(count);
    const size_t first = rows.first(step.number);
    step.gates = gates.slice_rows(first, count);
    if (fresh() > 0) step.x = x.slice_rows(first, count).slice_columns(known(), fresh());
    step.h = h.slice_rows(first, count);
  } else {
    if (any_needs_grad(std::vector{input, before.h, weights.input, weights.hidden})) {
      throw ShapeError("unrolled: a walk of no rows cannot have gradients; say how many");
    }
    step.gates = Tensor::empty({count, blocks_kept(cell()) * hidden()});
    if (fresh() > 0) step.x = Tensor::empty({count, fresh()});
    step.h = Tensor::empty({count, hidden()});
  }
  if (fresh() > 0) kernels::copy_rows(rows_of(input), mutable_rows_of(step.x));
  kernels::copy_rows(rows_of(before.h), mutable_rows_of(step.h));
  if (options.mask.defined()) {
    kernels::multiply(step.h.data(), options.mask.data(), step.h.data(), step.h.size());
  }
  return step;
}

// h, and beneath it c of an LSTM.
Tensor UnrolledCell::Walk::forward(const Step& step) const {
  if (fresh() > 0) {
    const bool more = known() > 0;
    kernels::gemm(
        step.count, matrix(step.x), x_forward, target(step.gates),
        {.beta = more ? 1.0f : 0.0f, .bias = more ? nullptr : data_of(weights.input_bias)});
  }
  const Tensor h_gates = Tensor::empty({step.count, columns()});
  kernels::gemm(step.count, matrix(step.h), h_forward, target(h_gates),
                {.bias = data_of(weights.hidden_bias)});
  Tensor y = Tensor::empty({(lstm() ? 2 : 1) * step.count, hidden()});
  activate(step, {step.count, hidden(), target(step.gates), matrix(h_gates)}, y);
  return y;
}

void UnrolledCell::Walk::activate(const Step& step, const kernels::GateInputs& in,
                                  const Tensor& y) const {
  const kernels::GateOutputs out{.y = target(y)};
  switch (cell()) {
    case Cell::kRnnTanh:
    case Cell::kRnnRelu:
      return kernels::rnn_step({in, rnn_activation(cell()), out});
    case Cell::kLstm:
      return kernels::lstm_step(
          {in, matrix(step.before.c), target(y.slice_rows(step.count, step.count)), out});
    case Cell::kGru:
      return kernels::gru_step({in, matrix(step.before.h), out,
                                target(step.gates.slice_columns(3 * hidden(), hidden()))});
  }
}

void UnrolledCell::Walk::backward(const Step& step, const Tensor& y, const Tensor& dy,
                                  const Tensor& input, Grads& grads) {
  const Tensor direct = deactivate(step, y, dy, grads);
  state_gradient(step, direct, grads);
  if (input.defined() && grads.wants(input)) {
    if (x_backward.empty()) {
      x_backward = {columns(), fresh(), matrix(weights.input.slice_columns(known(), fresh()))};
    }
    const Gradient dx = grads.of(input);
    kernels::gemm(step.count, matrix(step.gates), x_backward, target(dx.tensor), into(dx));
  }
  rows.mark(step.number);
}

// Turns the step's gates into their gradients. Returns what of a GRU's h goes past them.
Tensor UnrolledCell::Walk::deactivate(const Step& step, const Tensor& y, const Tensor& dy,
                                      Grads& grads) const {
  const MutableMatrix d = target(step.gates);
  const Matrix activated = matrix(step.gates);
  kernels::GateGradients grad{
      .rows = step.count, .width = hidden(), .dh = target(dy), .d_gates = d};
  if (lstm()) {
    const Tensor c = y.slice_rows(step.count, step.count), dc = Tensor::like(c);
    kernels::copy(dy.data() + dc.size(), dc.data(), dc.size());
    kernels::lstm_backward({grad, activated, matrix(step.before.c), matrix(c), target(dc)});
    grads.pass(step.before.c, dc);
    return {};
  }
  if (cell() == Cell::kGru) {
    Tensor direct = Tensor::like(dy);
    kernels::copy(dy.data(), direct.data(), dy.size());
    grad.dh = target(direct);
    const Tensor h_n = step.gates.slice_columns(3 * hidden(), hidden());
    kernels::gru_backward({grad, activated, matrix(h_n), matrix(step.before.h), target(h_n)});
    return direct;
  }
  kernels::rnn_backward({grad, rnn_activation(cell()), activated});
  return {};
}

void UnrolledCell::Walk::state_gradient(const Step& step, const Tensor& direct, Grads& grads) {
  if (!grads.wants(step.before.h)) return;
  const std::span<const GateRun> runs = hidden_runs(cell());
  if (h_backward.empty()) {
    for (const GateRun& run : runs) {
      const Tensor part = weights.hidden.slice_rows(run.weight * hidden(), run.count * hidden());
      h_backward.emplace_back(part.rows(), hidden(), matrix(part));
    }
  }
  const bool masked = options.mask.defined();
  Tensor dh = direct.defined() && !masked ? direct : Tensor::empty({step.count, hidden()});
  float beta = direct.defined() && !masked ? 1.0f : 0.0f;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Tensor part = step.gates.slice_columns(runs[i].kept * hidden(), runs[i].count * hidden());
    kernels::gemm(step.count, matrix(part), h_backward[i], target(dh), {.beta = beta});
    beta = 1.0f;
  }
  if (masked) {
    kernels::multiply(dh.data(), options.mask.data(), dh.data(), dh.size());
    if (direct.defined()) kernels::add(dh.data(), direct.data(), dh.data(), dh.size());
  }
  grads.pass(step.before.h, dh);
}

// Over all steps at once: dW = d_gates^T x, d_gates^T h.
void UnrolledCell::Walk::finish(Grads& grads) const {
  rows.clear_unmarked(gates);
  const size_t count = rows.taken();
  if (grads.wants(weights.input)) {
    const Gradient dw = grads.of(weights.input);
    kernels::gemm(columns(), in(), count, matrix(gates, true), matrix(x), target(dw.tensor),
                  into(dw));
  }
  if (grads.wants(weights.hidden)) {
    const Gradient dw = grads.of(weights.hidden);
    for (const GateRun& run : hidden_runs(cell())) {
      const size_t size = run.count * hidden();
      const Tensor to = dw.tensor.slice_rows(run.weight * hidden(), size);
      kernels::gemm(size, hidden(), count,
                    matrix(gates.slice_columns(run.kept * hidden(), size), true), matrix(h),
                    target(to), into(dw));
    }
  }
  bias_gradients(grads);
  if (known() > 0 && grads.wants(options.known)) {
    // Rows that no step took have no gradients in the gates.
    const Gradient dx = grads.of(options.known);
    kernels::gemm(count, known(), columns(), matrix(gates),
                  matrix(weights.input.slice_columns(0, known())), target(dx.tensor), into(dx));
    const size_t left = dx.add ? 0 : dx.tensor.rows() - count;
    const Tensor rest = dx.tensor.slice_rows(count, left);
    kernels::copy_rows(rows_of(Tensor::zeros(rest.shape())), mutable_rows_of(rest));
  }
}

void UnrolledCell::Walk::bias_gradients(Grads& grads) const {
  if (!grads.wants(weights.input_bias) && !grads.wants(weights.hidden_bias)) return;
  const Tensor sums = Tensor::empty({gates.width()});
  kernels::sum_rows({gates.data(), rows.taken(), sums.size(), sums.size()}, sums.data());
  if (grads.wants(weights.input_bias)) {
    const Gradient db = grads.of(weights.input_bias);
    kernels::scale(1.0f, sums.data(), db.data(), columns(), db.add);
  }
  if (!grads.wants(weights.hidden_bias)) return;
  const Gradient db = grads.of(weights.hidden_bias);
  for (const GateRun& run : hidden_runs(cell())) {
    kernels::scale(1.0f, sums.data() + run.kept * hidden(), db.data() + run.weight * hidden(),
                   run.count * hidden(), db.add);
  }
}

}  // namespace attend
