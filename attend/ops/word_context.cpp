#include "attend/ops/word_context.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/embedding.h"
#include "attend/kernels/word_context.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

void check_windows(const Tensor& x, const Tensor& table, const WordWindows& windows) {
  const size_t positions = windows.positions();
  if (x.rank() != 2 || table.rank() != 2 || x.width() != table.width() ||
      x.extent(0) != positions) {
    throw ShapeError("word_context_loss: {} and {} do not fit {} positions", x.shape(),
                     table.shape(), positions);
  }
  if (windows.end.size() != positions || windows.first_output.size() != positions + 1 ||
      windows.first_output.back() != windows.outputs.size() ||
      windows.signs.size() != windows.outputs.size()) {
    throw ShapeError("word_context_loss: the lists of {} positions do not fit each other",
                     positions);
  }
  const size_t outside = kernels::first_id_outside(windows.outputs, table.extent(0));
  if (outside < windows.outputs.size()) {
    throw DataError("word_context_loss: output {} is outside a table of {} rows",
                    windows.outputs[outside], table.extent(0));
  }
  for (size_t p = 0; p < positions; ++p) {
    const size_t begin = windows.begin[p], end = windows.end[p];
    const bool near = begin <= p && p - begin <= windows.reach && p < end && end <= positions &&
                      end - p <= windows.reach + 1;
    if (!near) throw DataError("word_context_loss: the window of position {} does not fit", p);
  }
}

// That of windows that answer as one is a slope times the sum of the window.
RowGradient new_row_gradient(const WordWindows& windows, size_t width) {
  const size_t count = windows.outputs.size();
  RowGradient made;
  made.ids = Tensor::ids(windows.outputs, {count});
  made.values = Tensor::empty({windows.together ? windows.positions() : count, width});
  if (!windows.together) return made;
  made.factors = Tensor::empty({count});
  made.sources = Tensor::empty({count}, DType::kInt32);
  for (size_t p = 0; p < windows.positions(); ++p) {
    std::fill(made.sources.indices() + windows.first_output[p],
              made.sources.indices() + windows.first_output[p + 1], static_cast<int32_t>(p));
  }
  return made;
}

void scale_rows(float factor, const Tensor& x) {
  if (factor != 1.0f) kernels::scale(factor, x.data(), x.data(), x.size());
}

}  // namespace

WordContextSum word_context_loss(const Tensor& rows, const Tensor& outputs,
                                 const WordWindows& windows) {
  check_windows(rows, outputs, windows);
  const Tensor x = contiguous(rows), table = contiguous(outputs);
  const kernels::WordContexts contexts{.begin = windows.begin,
                                       .end = windows.end,
                                       .first_output = windows.first_output,
                                       .outputs = windows.outputs,
                                       .signs = windows.signs,
                                       .together = windows.together,
                                       .reach = windows.reach};
  const bool recorded = any_needs_grad(std::vector{x, table});
  Tensor dx;
  RowGradient dy;
  kernels::WordOutputGradients to_dy;
  if (recorded) {
    dx = Tensor::empty(x.shape());
    dy = new_row_gradient(windows, table.width());
    (windows.together ? to_dy.sums : to_dy.rows) =
        kernels::dense_rows(dy.values.data(), dy.values.rows(), dy.values.width());
    if (windows.together) to_dy.slopes = dy.factors.data();
  }
  const kernels::WordContextLoss loss =
      kernels::word_context(contexts, kernels::dense_rows(x.detach().data(), x.rows(), x.width()),
                            kernels::dense_rows(table.detach().data(), table.rows(), table.width()),
                            recorded ? dx.data() : nullptr, to_dy);
  const Tensor sum = Tensor::full({1}, static_cast<float>(loss.sum));
  return {record(sum, {x, table},
                 [x, table, dx, dy](const Tensor& seed, Grads& grads) {
                   const float factor = seed.item();
                   scale_rows(factor, dx);
                   scale_rows(factor, dy.factors.defined() ? dy.factors : dy.values);
                   grads.pass(x, dx);
                   grads.rows(table, dy);
                 }),
          loss.count};
}

}  // namespace attend
