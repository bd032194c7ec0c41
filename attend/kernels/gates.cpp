#include "attend/kernels/gates.h"

#include <algorithm>

#include "attend/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/gates.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/lanes-inl.h"
#include "attend/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// Row i of a matrix, null if the matrix is.
template <typename M>
HWY_INLINE auto Row(const M& matrix, size_t i) {
  return matrix.data == nullptr ? nullptr : matrix.data + i * matrix.stride;
}

// The same where rows are numbered by a table, or not.
template <typename M>
HWY_INLINE auto Row(const M& matrix, const int32_t* numbers, size_t i) {
  return Row(matrix, numbers == nullptr ? i : static_cast<size_t>(numbers[i]));
}

// Where the new state of one row goes.
struct NewState {
  HWY_INLINE NewState(const GateOutputs& out, size_t i)
      : y(Row(out.y, out.y_rows, i)), h(i < out.h_rows ? Row(out.h, i) : nullptr) {}

  template <typename Lanes>
  HWY_INLINE void Store(const Lanes& lanes, V state, size_t at) const {
    lanes.Store(state, y + at);
    if (h != nullptr) lanes.Store(state, h + at);
  }

  float *y, *h;
};

template <typename Lanes>
HWY_INLINE V LoadOrZero(const Lanes& lanes, const float* row, size_t at) {
  return row == nullptr ? hn::Zero(D()) : lanes.Load(row + at);
}

// The two sides of a gate's sum, for one row.
struct Projections {
  HWY_INLINE Projections(const GateInputs& in, size_t i)
      : x(Row(in.gates, i)), h(Row(in.h_gates, i)), x_bias(in.x_bias), h_bias(in.h_bias) {}

  template <typename Lanes>
  HWY_INLINE V FromX(const Lanes& lanes, size_t at) const {
    return hn::Add(lanes.Load(x + at), LoadOrZero(lanes, x_bias, at));
  }
  template <typename Lanes>
  HWY_INLINE V FromH(const Lanes& lanes, size_t at) const {
    return hn::Add(LoadOrZero(lanes, h, at), LoadOrZero(lanes, h_bias, at));
  }
  template <typename Lanes>
  HWY_INLINE V Sum(const Lanes& lanes, size_t at) const {
    return hn::Add(FromX(lanes, at), FromH(lanes, at));
  }

  const float *x, *h, *x_bias, *h_bias;
};

// Slopes from what is stored, the activated gates; see gates.h.
HWY_INLINE V OneMinus(V x) { return hn::Sub(hn::Set(D(), 1.0f), x); }
HWY_INLINE V OneMinusSquare(V x) { return hn::NegMulAdd(x, x, hn::Set(D(), 1.0f)); }
HWY_INLINE V SigmoidSlope(V y) { return hn::Mul(y, OneMinus(y)); }

HWY_NOINLINE void RnnRow(const RnnStep& step, size_t row) {
  const Projections sums(step.in, row);
  const NewState out(step.out, row);
  float* gates = Row(step.in.gates, row);
  const bool tanh = step.activation == RnnActivation::kTanh;
  ForLanes(step.in.width, [&](size_t i, auto lanes) HWY_ATTR {
    const V sum = sums.Sum(lanes, i);
    const V negative = hn::VecFromMask(D(), hn::Lt(sum, hn::Zero(D())));
    const V h = tanh ? Tanh(sum) : hn::AndNot(negative, sum);
    lanes.Store(h, gates + i);
    out.Store(lanes, h, i);
  });
}

HWY_NOINLINE void RnnBackwardRow(const RnnBackward& step, size_t row) {
  const float *y = Row(step.h, row), *dh = Row(step.grad.dh, row);
  const float* dy = Row(step.grad.dy, step.grad.dy_rows, row);
  float* d_gates = Row(step.grad.d_gates, row);
  const bool tanh = step.activation == RnnActivation::kTanh;
  ForLanes(step.grad.width, [&](size_t i, auto lanes) HWY_ATTR {
    const V h = lanes.Load(y + i);
    const V d = hn::Add(LoadOrZero(lanes, dy, i), lanes.Load(dh + i));
    const auto positive = hn::Gt(h, hn::Zero(D()));
    const V grad = tanh ? hn::Mul(d, OneMinusSquare(h)) : hn::IfThenElseZero(positive, d);
    lanes.Store(grad, d_gates + i);
  });
}

HWY_NOINLINE void LstmRow(const LstmStep& step, size_t row) {
  const Projections sums(step.in, row);
  const size_t width = step.in.width;
  float* gates = Row(step.in.gates, row);
  const float* c_prev = Row(step.c_prev, row);
  float* c = Row(step.c, row);
  const NewState out(step.out, row);
  ForLanes(width, [&](size_t at, auto lanes) HWY_ATTR {
    const V i = Sigmoid(sums.Sum(lanes, at));
    lanes.Store(i, gates + at);
    const V f = Sigmoid(sums.Sum(lanes, at + width));
    lanes.Store(f, gates + at + width);
    const V g = Tanh(sums.Sum(lanes, at + 2 * width));
    lanes.Store(g, gates + at + 2 * width);
    const V state = hn::MulAdd(f, LoadOrZero(lanes, c_prev, at), hn::Mul(i, g));
    lanes.Store(state, c + at);
    const V o = Sigmoid(sums.Sum(lanes, at + 3 * width));
    lanes.Store(o, gates + at + 3 * width);
    out.Store(lanes, hn::Mul(o, Tanh(state)), at);
  });
}

HWY_NOINLINE void LstmBackwardRow(const LstmBackward& step, size_t row) {
  const size_t width = step.grad.width;
  const float *gates = Row(step.gates, row), *c = Row(step.c, row);
  const float* c_prev = Row(step.c_prev, row);
  const float *dy = Row(step.grad.dy, step.grad.dy_rows, row), *dh = Row(step.grad.dh, row);
  float *d_gates = Row(step.grad.d_gates, row), *dc = Row(step.dc, row);
  ForLanes(width, [&](size_t at, auto lanes) HWY_ATTR {
    const V i = lanes.Load(gates + at), f = lanes.Load(gates + at + width);
    const V g = lanes.Load(gates + at + 2 * width), o = lanes.Load(gates + at + 3 * width);
    const V d = hn::Add(LoadOrZero(lanes, dy, at), lanes.Load(dh + at));
    const auto [tanh_c, slope] = TanhAndSlope(lanes.Load(c + at));
    const V d_state = hn::MulAdd(hn::Mul(d, o), slope, lanes.Load(dc + at));
    const V state = LoadOrZero(lanes, c_prev, at);
    lanes.Store(hn::Mul(hn::Mul(d_state, g), SigmoidSlope(i)), d_gates + at);
    lanes.Store(hn::Mul(hn::Mul(d_state, state), SigmoidSlope(f)), d_gates + at + width);
    lanes.Store(hn::Mul(hn::Mul(d_state, i), OneMinusSquare(g)), d_gates + at + 2 * width);
    lanes.Store(hn::Mul(hn::Mul(d, tanh_c), SigmoidSlope(o)), d_gates + at + 3 * width);
    lanes.Store(hn::Mul(d_state, f), dc + at);
  });
}

HWY_NOINLINE void GruRow(const GruStep& step, size_t row) {
  const Projections sums(step.in, row);
  const size_t width = step.in.width;
  float *gates = Row(step.in.gates, row), *h_n = Row(step.h_n, row);
  const float* h_prev = Row(step.h_prev, row);
  const NewState out(step.out, row);
  ForLanes(width, [&](size_t at, auto lanes) HWY_ATTR {
    const V r = Sigmoid(sums.Sum(lanes, at));
    const V z = Sigmoid(sums.Sum(lanes, at + width));
    const V from_h = sums.FromH(lanes, at + 2 * width);
    const V n = Tanh(hn::MulAdd(r, from_h, sums.FromX(lanes, at + 2 * width)));
    const V state = LoadOrZero(lanes, h_prev, at);
    lanes.Store(r, gates + at);
    lanes.Store(z, gates + at + width);
    lanes.Store(n, gates + at + 2 * width);
    if (h_n != nullptr) lanes.Store(from_h, h_n + at);
    out.Store(lanes, hn::MulAdd(z, state, hn::Mul(OneMinus(z), n)), at);
  });
}

HWY_NOINLINE void GruBackwardRow(const GruBackward& step, size_t row) {
  const size_t width = step.grad.width;
  const float *gates = Row(step.gates, row), *h_n = Row(step.h_n, row);
  const float* h_prev = Row(step.h_prev, row);
  const float* dy = Row(step.grad.dy, step.grad.dy_rows, row);
  float *d_gates = Row(step.grad.d_gates, row), *dh = Row(step.grad.dh, row);
  float* dh_n = Row(step.dh_n, row);
  ForLanes(width, [&](size_t at, auto lanes) HWY_ATTR {
    const V r = lanes.Load(gates + at), z = lanes.Load(gates + at + width);
    const V n = lanes.Load(gates + at + 2 * width), from_h = lanes.Load(h_n + at);
    const V state = LoadOrZero(lanes, h_prev, at);
    const V d = hn::Add(LoadOrZero(lanes, dy, at), lanes.Load(dh + at));
    const V d_n = hn::Mul(hn::Mul(d, OneMinus(z)), OneMinusSquare(n));
    lanes.Store(hn::Mul(hn::Mul(d_n, from_h), SigmoidSlope(r)), d_gates + at);
    lanes.Store(hn::Mul(hn::Mul(d, hn::Sub(state, n)), SigmoidSlope(z)), d_gates + at + width);
    lanes.Store(d_n, d_gates + at + 2 * width);
    lanes.Store(hn::Mul(d_n, r), dh_n + at);
    lanes.Store(hn::Mul(d, z), dh + at);
  });
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {
namespace {

HWY_EXPORT(RnnRow);
HWY_EXPORT(RnnBackwardRow);
HWY_EXPORT(LstmRow);
HWY_EXPORT(LstmBackwardRow);
HWY_EXPORT(GruRow);
HWY_EXPORT(GruBackwardRow);

// Rows go to threads in groups of at least this many elements, some ten microseconds of work.
constexpr size_t kGrain = 4096;

template <typename Step>
void for_rows(size_t rows, size_t width, const Step& step, void (*row_of)(const Step&, size_t)) {
  const size_t grain = std::max<size_t>(1, kGrain / std::max<size_t>(1, width));
  parallel_for(rows, grain, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) row_of(step, row);
  });
}

}  // namespace

void rnn_step(const RnnStep& step) {
  for_rows(step.in.rows, step.in.width, step, HWY_DYNAMIC_DISPATCH(RnnRow));
}
void rnn_backward(const RnnBackward& step) {
  for_rows(step.grad.rows, step.grad.width, step, HWY_DYNAMIC_DISPATCH(RnnBackwardRow));
}
void lstm_step(const LstmStep& step) {
  for_rows(step.in.rows, step.in.width, step, HWY_DYNAMIC_DISPATCH(LstmRow));
}
void lstm_backward(const LstmBackward& step) {
  for_rows(step.grad.rows, step.grad.width, step, HWY_DYNAMIC_DISPATCH(LstmBackwardRow));
}
void gru_step(const GruStep& step) {
  for_rows(step.in.rows, step.in.width, step, HWY_DYNAMIC_DISPATCH(GruRow));
}
void gru_backward(const GruBackward& step) {
  for_rows(step.grad.rows, step.grad.width, step, HWY_DYNAMIC_DISPATCH(GruBackwardRow));
}

}  // namespace attend::kernels
#endif
