// The element-wise part of one time step of RNN, LSTM and GRU cells, fused: projections and biases
// are added, gates activated, and the state updated in one pass. Gate order and semantics are
// PyTorch's.
//
// A layer lays its rows out by time step, so that the live rows of a step are a prefix of those of
// the step before. It projects the inputs of all steps in one product, and at each step calls
//   h_gates = h_prev W_h^T  (gemm),  then  lstm_step({... .gates = the step's rows ...}).
// Backwards it calls lstm_backward, then dh = d_gates W_h (gemm), and after the last step forms the
// weight gradients of all steps in one product each.
//
// Matrices are (rows, columns) with a row stride and never transposed. Null matrices and biases are
// zeros where the field says "or null". Threads are used only when there is enough work; rows are
// independent of each other, so the bits of a row depend on that row alone.
//
// Gradients take the slopes of gates, s (1 - s) and 1 - t^2, from the activated values: these
// replace the sums in memory, and no exponential is recomputed. The error of a slope is at most
// 2^-24, so a tiny slope, of a gate that is nearly 1, may keep few digits or none. The slope of an
// LSTM's tanh(c) comes from c and has all its digits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/kernels/gemm.h"

namespace attend::kernels {

// The inputs of all cells: k = 1 gate for an RNN, 4 for LSTM (i, f, g, o), 3 for GRU (r, z, n).
struct GateInputs {
  size_t rows, width;
  MutableMatrix gates;            // (rows, k width): x W_x^T on entry; see each cell for the exit
  Matrix h_gates = {nullptr, 0};  // (rows, k width): h_prev W_h^T, or null when h_prev is zero
  const float* x_bias = nullptr;  // (k width), or null (none, or already added by the product)
  const float* h_bias = nullptr;  // (k width), or null
};

// Where the new h of each row is written: to the layer's output, whose rows may be in another
// order, and, for the first h_rows rows, whose sequences continue, to the input of the next step.
struct GateOutputs {
  MutableMatrix y;  // (rows, width), written at row y_rows[i], or i where that is null
  const int32_t* y_rows = nullptr;
  MutableMatrix h = {nullptr, 0};  // (h_rows, width), written, or null
  size_t h_rows = 0;
};

// The inputs of all cells' gradients. `dh` is the gradient that reaches h from the next time step;
// rows whose sequence ends here hold the gradient of the final state, or zero.
struct GateGradients {
  size_t rows, width;
  Matrix dy = {nullptr, 0};  // (rows, width): gradient of h as the layer's output, or null
  MutableMatrix dh;          // (rows, width)
  MutableMatrix d_gates;     // (rows, k width), written: gradient of the sums before activation
  const int32_t* dy_rows = nullptr;  // dy is read at row dy_rows[i], or i where that is null
};

// The activation of an Elman cell.
enum class RnnActivation { kTanh, kRelu };

// h = activation(x W_x^T + x_bias + h_prev W_h^T + h_bias). On exit `gates` holds h as well, which
// rnn_backward reads.
struct RnnStep {
  GateInputs in;
  RnnActivation activation = RnnActivation::kTanh;
  GateOutputs out;
};
void rnn_step(const RnnStep& step);

// d_gates = (dy + dh) activation'(h). dh is only read; h_prev's gradient is d_gates W_h alone.
// d_gates may be h.
struct RnnBackward {
  GateGradients grad;
  RnnActivation activation = RnnActivation::kTanh;
  Matrix h;  // (rows, width): from rnn_step
};
void rnn_backward(const RnnBackward& step);

// i, f, o = sigmoid(...), g = tanh(...);  c = f c_prev + i g;  h = o tanh(c).
// On exit `gates` holds the activated i, f, g, o, which lstm_backward reads.
struct LstmStep {
  GateInputs in;
  Matrix c_prev = {nullptr, 0};  // (rows, width), or null when zero; may be c
  MutableMatrix c;               // (rows, width), written
  GateOutputs out;
};
void lstm_step(const LstmStep& step);

// dc holds the gradient that reaches c from the next step on entry, and c_prev's on exit. dh is
// only read; h_prev's gradient is d_gates W_h alone. d_gates may be `gates`.
struct LstmBackward {
  GateGradients grad;
  Matrix gates;                  // (rows, 4 width): activated, from lstm_step
  Matrix c_prev = {nullptr, 0};  // (rows, width), or null when zero
  Matrix c;                      // (rows, width)
  MutableMatrix dc;              // (rows, width)
};
void lstm_backward(const LstmBackward& step);

// r, z = sigmoid(...);  h_n = h_prev W_hn^T + b_hn;  n = tanh(x W_xn^T + b_xn + r h_n);
// h = (1 - z) n + z h_prev.  On exit `gates` holds the activated r, z, n, which gru_backward reads.
struct GruStep {
  GateInputs in;
  Matrix h_prev = {nullptr, 0};  // (rows, width), or null when zero; may be the h of `out`
  GateOutputs out;
  MutableMatrix h_n = {nullptr, 0};  // (rows, width), written for gru_backward, or null
};
void gru_step(const GruStep& step);

// The projections of x and h share the gradients of r and z; those of n differ:
//   x: d_gates (r, z, n);   h: d_gates (r, z) and dh_n = r * d_gates (n).
// dh becomes z * (dy + dh), the direct part of h_prev's gradient; the caller adds the part through
// the projection of h. d_gates may be `gates`, and dh_n may be `h_n`: a row of 4 width floats r z n
// h_n then turns into its own gradient.
struct GruBackward {
  GateGradients grad;
  Matrix gates;                  // (rows, 3 width): activated, from gru_step
  Matrix h_n;                    // (rows, width), from gru_step
  Matrix h_prev = {nullptr, 0};  // (rows, width), or null when zero
  MutableMatrix dh_n;            // (rows, width), written
};
void gru_backward(const GruBackward& step);

}  // namespace attend::kernels
