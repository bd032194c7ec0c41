// Recurrent layers over packed sequences: Elman's RNN, LSTM (Hochreiter and Schmidhuber, 1997, with
// the forget gate of Gers et al., 2000) and GRU (Cho et al., 2014). One op is one layer in one
// direction over a whole batch. Parameters, gate order and equations are PyTorch's, so weights can
// be exchanged with nn.RNN, nn.LSTM and nn.GRU.
#pragma once

#include <string_view>

#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// The recurrent unit.
enum class Cell { kRnnTanh, kRnnRelu, kLstm, kGru };

std::string_view name_of(Cell cell);
size_t gate_count(Cell cell);  // RNN 1, LSTM 4 (i, f, g, o), GRU 3 (r, z, n)

struct RecurrentOptions {
  Cell cell = Cell::kLstm;
  bool reverse = false;  // reads each sequence from its end
  // Multiplies h before its projection, [sequences, hidden]: recurrent dropout, the same at all
  // steps (Gal and Ghahramani, 2016). It gets no gradient.
  Tensor mask = {};
};

// The weights of one layer and direction; k is gate_count. An undefined bias is zero.
struct RecurrentWeights {
  Tensor input;        // [k hidden, in]
  Tensor hidden;       // [k hidden, hidden]
  Tensor input_bias;   // [k hidden]
  Tensor hidden_bias;  // [k hidden]
};

// One row per sequence. An undefined tensor is zero; only an LSTM has c.
struct RecurrentState {
  Tensor h;  // [sequences, hidden]
  Tensor c;  // [sequences, hidden]
};

// What a layer gives for a batch.
struct RecurrentResult {
  Tensor output;  // [rows, hidden]: h after each row, in the order of x
  // After the last row that was read; for an empty sequence, the initial state.
  RecurrentState state;
};

// x [rows, in] holds the sequences of `packing`. Nothing is padded: the cost is that of the actual
// rows. Throws ShapeError.
RecurrentResult recurrent(const Tensor& x, const Packing& packing, const RecurrentWeights& weights,
                          const RecurrentState& initial = {}, const RecurrentOptions& options = {});

// The same as one tensor [rows + sequences (+ sequences), hidden]: output, h, and c of an LSTM.
Tensor recurrent_rows(const Tensor& x, const Packing& packing, const RecurrentWeights& weights,
                      const RecurrentState& initial, const RecurrentOptions& options);

}  // namespace attend
