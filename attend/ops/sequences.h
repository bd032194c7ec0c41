// Rows of a packed batch chosen by sequence, on the tape.
#pragma once

#include <span>

#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// The rows of these sequences of x [packing.rows(), ...], in that order; packing.pick(sequences) is
// their packing.
Tensor pick_sequences(const Tensor& x, const Packing& packing, std::span<const size_t> sequences);

// Row s of x [sequences, width] for each row of sequence s: [packing.rows(), width].
Tensor spread_rows(const Tensor& x, const Packing& packing);

}  // namespace attend
