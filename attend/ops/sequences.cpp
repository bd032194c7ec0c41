#include "attend/ops/sequences.h"

#include <vector>

#include "attend/ops/embedding.h"

namespace attend {
namespace {

Tensor gather(const Tensor& x, const std::vector<int32_t>& rows) {
  return gather_rows(x, Tensor::ids(rows, {rows.size()}));
}

}  // namespace

Tensor pick_sequences(const Tensor& x, const Packing& packing, std::span<const size_t> sequences) {
  std::vector<int32_t> rows;
  for (const size_t s : sequences) {
    for (size_t row = packing.begin(s); row < packing.end(s); ++row) {
      rows.push_back(static_cast<int32_t>(row));
    }
  }
  return gather(x, rows);
}

Tensor spread_rows(const Tensor& x, const Packing& packing) {
  std::vector<int32_t> rows;
  for (size_t s = 0; s < packing.count(); ++s) {
    rows.insert(rows.end(), packing.length(s), static_cast<int32_t>(s));
  }
  return gather(x, rows);
}

}  // namespace attend
