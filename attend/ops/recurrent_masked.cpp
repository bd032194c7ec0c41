#include "attend/ops/recurrent_masked.h"

#include "attend/ops/embedding.h"
#include "attend/ops/recurrent_schedule.h"
#include "attend/ops/shape.h"
#include "attend/ops/unrolled.h"

namespace attend {

RecurrentResult recurrent_masked(const Tensor& x, const Packing& packing,
                                 const RecurrentWeights& weights, const RecurrentState& initial,
                                 const MaskedOptions& options) {
  const RecurrentSchedule schedule(packing, options.layer.reverse);
  const size_t rows = packing.rows(), count = packing.count(), hidden = weights.hidden.extent(1);
  const auto ids = [](const std::vector<int32_t>& numbers) {
    return Tensor::ids(numbers, {numbers.size()});
  };
  const auto by_slot = [&](const Tensor& state) {
    return state.defined() ? gather_rows(state, ids(schedule.sequences))
                           : Tensor::zeros({count, hidden});
  };
  const bool lstm = options.layer.cell == Cell::kLstm;
  const RecurrentState first{by_slot(initial.h), lstm ? by_slot(initial.c) : Tensor()};
  const UnrolledCell cell(weights,
                          {.cell = options.layer.cell,
                           .rows = rows,
                           .known = gather_rows(x, ids(schedule.rows)),
                           .mask = options.mask.defined() ? by_slot(options.mask) : options.mask});
  std::vector<Tensor> h, c;
  RecurrentState state = first;
  for (const RecurrentSchedule::Step& step : schedule.steps) {
    state.h = state.h.slice_rows(0, step.rows);
    if (lstm) state.c = state.c.slice_rows(0, step.rows);
    state = cell.step({}, state);
    h.push_back(state.h);
    c.push_back(state.c);
  }
  // Where each row and each last state is among those of the steps, and the first ones beneath.
  std::vector<int32_t> row_of(rows), last_of(count);
  for (size_t i = 0; i < rows; ++i) {
    row_of[static_cast<size_t>(schedule.rows[i])] = static_cast<int32_t>(i);
  }
  for (size_t slot = 0; slot < count; ++slot) {
    const int32_t last = schedule.last[slot];
    last_of[static_cast<size_t>(schedule.sequences[slot])] =
        last < 0 ? static_cast<int32_t>(rows + slot) : last;
  }
  h.push_back(first.h);
  c.push_back(first.c);
  const Tensor all = concat(h, 0);
  return {
      gather_rows(all, ids(row_of)),
      {gather_rows(all, ids(last_of)), lstm ? gather_rows(concat(c, 0), ids(last_of)) : Tensor()}};
}

}  // namespace attend
