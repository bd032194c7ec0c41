// Look-up of rows by number.
#pragma once

#include "attend/kernels/gemm.h"
#include "attend/tensor/tensor.h"

namespace attend {

// y[i] = scale table[ids[i]].  table [vocab, width], ids int32 of any shape; y [ids..., width].
// Throws DataError that names the first id outside the table.
Tensor embedding(const Tensor& table, const Tensor& ids, float scale = 1.0f);

// The same, off the tape, of a table that is packed as the output layer it is tied to.
Tensor embedding(const kernels::PackedMatrix& table, const Tensor& ids, float scale = 1.0f);

// Rows ids[i] of x [n, width], whatever they stand for.
inline Tensor gather_rows(const Tensor& x, const Tensor& ids) { return embedding(x, ids); }

}  // namespace attend
