// Look-up of rows by their numbers.
#pragma once

#include "attend/kernels/gemm.h"
#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// y[i] = scale table[ids[i]].  table [vocab, width], ids int32 of any shape; y [ids..., width].
// Throws DataError that names the first id out of range.
Tensor embedding(const Tensor& table, const Tensor& ids, float scale = 1.0f);

// The same for a large table: its gradient is the rows that occurred (RowGradient), so that neither
// the gradient nor an update takes time or memory for the others. Adam's moments of a row then rest
// while it does not occur.
Tensor sparse_embedding(const Tensor& table, const Tensor& ids);
// y[i] is the mean of the rows with the ids [packing.begin(i), packing.end(i)), at least one.
Tensor sparse_embedding_means(const Tensor& table, const Tensor& ids, const Packing& packing);

// The same off the tape, for a table that is packed because an output layer shares it.
Tensor embedding(const kernels::PackedMatrix& table, const Tensor& ids, float scale = 1.0f);

// Rows ids[i] of any x [n, width].
inline Tensor gather_rows(const Tensor& x, const Tensor& ids) { return embedding(x, ids); }

}  // namespace attend
