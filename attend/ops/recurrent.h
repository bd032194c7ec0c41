// Recurrent layers over packed sequences: Elman's RNN, LSTM (Hochreiter and Schmidhuber, 1997, with
// the forget gate of Gers et al., 2000) and GRU (Cho et al., 2014). One op is one layer in one
// direction over a whole batch. Parameters, gate order and equations are PyTorch's, so weights are
// interchangeable with nn.RNN, nn.LSTM and nn.GRU.
#pragma once

#include <string_view>

#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

enum class Cell { kRnnTanh, kRnnRelu, kLstm, kGru };

std::string_view name_of(Cell cell);
size_t gate_count(Cell cell);  // RNN 1, LSTM 4 (i, f, g, o), GRU 3 (r, z, n)

struct RecurrentOptions {
  Cell cell = Cell::kLstm;
  bool reverse = false;  // walks each sequence from its end
  // What h is multiplied with before its projection, [sequences, hidden]: dropout inside the
  // recurrence, the same at all steps (Gal and Ghahramani, 2016). It takes no gradient.
  Tensor mask = {};
};

// Of one layer and direction; k is gate_count. Undefined biases are zeros.
struct RecurrentWeights {
  Tensor input;        // [k hidden, in]
  Tensor hidden;       // [k hidden, hidden]
  Tensor input_bias;   // [k hidden]
  Tensor hidden_bias;  // [k hidden]
};

// One row a sequence. Undefined is zeros; only an LSTM has c.
struct RecurrentState {
  Tensor h;  // [sequences, hidden]
  Tensor c;  // [sequences, hidden]
};

struct RecurrentResult {
  Tensor output;         // [rows, hidden]: h after each row, in the order of x
  RecurrentState state;  // after the last row walked; the initial state of an empty sequence
};

// x [rows, in] holds the sequences of `packing`. Throws ShapeError. Nothing is padded: the cost is
// that of the rows there are.
RecurrentResult recurrent(const Tensor& x, const Packing& packing, const RecurrentWeights& weights,
                          const RecurrentState& initial = {}, const RecurrentOptions& options = {});

// The same as one tensor [rows + sequences (+ sequences), hidden]: output, h, and c of an LSTM.
Tensor recurrent_rows(const Tensor& x, const Packing& packing, const RecurrentWeights& weights,
                      const RecurrentState& initial, const RecurrentOptions& options);

}  // namespace attend
