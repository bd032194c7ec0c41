#include "attend/ops/embedding.h"

#include <algorithm>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/embedding.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

Shape with_width(const Shape& ids, size_t width) {
  std::vector<size_t> extents;
  for (size_t i = 0; i < ids.rank(); ++i) extents.push_back(ids[static_cast<int>(i)]);
  extents.push_back(width);
  return Shape(extents);
}

void check_ids(const Tensor& ids, size_t rows) {
  if (ids.dtype() != DType::kInt32) {
    throw ShapeError("embedding: the ids {} are not int32; make them with Tensor::ids",
                     ids.shape());
  }
  const size_t outside = kernels::first_id_outside(ids.index_span(), rows);
  if (outside < ids.size()) {
    throw DataError("embedding: id {} at place {} is outside a table of {} rows",
                    ids.indices()[outside], outside, rows);
  }
}

}  // namespace

Tensor embedding(const Tensor& source, const Tensor& ids, float scale) {
  if (source.rank() != 2) {
    throw ShapeError("embedding: the table is {}, not [rows, width]", source.shape());
  }
  check_ids(ids, source.extent(0));
  const Tensor table = contiguous(source);
  const kernels::Embedding rows{ids.index_span(), table.extent(0), table.extent(1), scale};
  Tensor y = Tensor::empty(with_width(ids.shape(), table.width()));
  kernels::embedding(rows, table.data(), y.data());
  return record(y, {table}, [table, ids, rows](const Tensor& dy, Grads& grads) {
    const Gradient d_table = grads.of(table);
    kernels::embedding_backward(rows, dy.data(), d_table.data(), d_table.add);
  });
}

Tensor sparse_embedding(const Tensor& table, const Tensor& ids) {
  Tensor y = embedding(table.detach(), ids);
  return record(y, {table}, [table, ids](const Tensor& dy, Grads& grads) {
    grads.rows(table, {.ids = ids.reshape({ids.size()}),
                       .values = contiguous(dy).reshape({ids.size(), table.width()}),
                       .factors = {},
                       .sources = {}});
  });
}

Tensor sparse_embedding_means(const Tensor& table, const Tensor& ids, const Packing& packing) {
  if (packing.rows() != ids.size()) {
    throw ShapeError("sparse_embedding_means: {} ids for {} rows", ids.size(), packing.rows());
  }
  check_ids(ids, table.extent(0));
  const size_t width = table.width();
  Tensor y = Tensor::empty({packing.count(), width});
  const auto share = [packing](size_t i) { return 1.0f / static_cast<float>(packing.length(i)); };
  const size_t grain = std::max<size_t>(1, 4096 / width);
  parallel_for(packing.count(), grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      float* const to = y.data() + i * width;
      kernels::fill(0.0f, to, width);
      for (size_t k = packing.begin(i); k < packing.end(i); ++k) {
        const auto row = static_cast<size_t>(ids.indices()[k]);
        kernels::add(to, table.data() + row * table.stride(), to, width);
      }
      kernels::scale(share(i), to, to, width);
    }
  });
  return record(y, {table}, [table, ids, packing, share](const Tensor& dy, Grads& grads) {
    const Tensor factors = Tensor::empty({ids.size()});
    const Tensor sources = Tensor::empty({ids.size()}, DType::kInt32);
    for (size_t i = 0; i < packing.count(); ++i) {
      for (size_t k = packing.begin(i); k < packing.end(i); ++k) {
        factors.data()[k] = share(i);
        sources.indices()[k] = static_cast<int32_t>(i);
      }
    }
    grads.rows(table, {ids, dy, factors, sources});
  });
}

Tensor embedding(const kernels::PackedMatrix& table, const Tensor& ids, float scale) {
  check_ids(ids, table.columns());
  Tensor y = Tensor::empty(with_width(ids.shape(), table.rows()));
  for (size_t i = 0; i < ids.size(); ++i) {
    table.copy_column(static_cast<size_t>(ids.indices()[i]), scale, y.data() + i * y.width());
  }
  return y;
}

}  // namespace attend
