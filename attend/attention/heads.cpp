#include "attend/attention/heads.h"

#include "attend/base/error.h"
#include "attend/ops/shape.h"

namespace attend {

Tensor merge_heads(const Tensor& x) {
  if (x.rank() != 4) {
    throw ShapeError("merge_heads: {} is not [batch, heads, length, width]", x.shape());
  }
  const size_t batch = x.extent(0), heads = x.extent(1), length = x.extent(2);
  return reshape(permute(x, {0, 2, 1, 3}), {batch * length, heads * x.width()});
}

Tensor split_heads(const Tensor& rows, size_t heads, const Packing& packing) {
  if (rows.rank() != 2 || rows.rows() != packing.rows() || heads == 0 ||
      rows.width() % heads != 0) {
    throw ShapeError("split_heads: {} is not [{} rows, {} heads x width]", rows.shape(),
                     packing.rows(), heads);
  }
  const size_t batch = packing.count(), length = batch == 0 ? 0 : packing.length(0);
  for (size_t s = 1; s < batch; ++s) {
    if (packing.length(s) != length) {
      throw ShapeError(
          "split_heads: sequence {} has {} rows but sequence 0 has {}; only sequences of one "
          "length fit [batch, heads, length, width]",
          s, packing.length(s), length);
    }
  }
  return permute(reshape(rows, {batch, length, heads, rows.width() / heads}), {0, 2, 1, 3});
}

}  // namespace attend
