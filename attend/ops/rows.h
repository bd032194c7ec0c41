// Tensors as rows for the row-wise kernels. Not for use outside Attend.
#pragma once

#include "attend/kernels/rows.h"
#include "attend/tensor/tensor.h"

namespace attend {

inline kernels::Rows rows_of(const Tensor& x) {
  return {x.data(), x.rows(), x.width(), x.stride()};
}

inline kernels::MutableRows mutable_rows_of(const Tensor& x) {
  return {x.data(), x.rows(), x.width(), x.stride()};
}

}  // namespace attend
