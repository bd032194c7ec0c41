#include "attend/ops/unrolled_rows.h"

#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"

namespace attend {

size_t UnrolledRows::take(size_t count) {
  if (taken_ + count > capacity_) {
    throw ShapeError(
        "unrolled: a step of {} rows after {} of {}; make the walk for as many as it "
        "will take",
        count, taken_, capacity_);
  }
  steps_.push_back({taken_, count, false});
  taken_ += count;
  return steps_.size() - 1;
}

void UnrolledRows::clear_unmarked(const Tensor& x) const {
  for (const Step& step : steps_) {
    if (step.marked) continue;
    const Tensor rows = x.slice_rows(step.first, step.count);
    kernels::fill(0.0f, rows.data(), rows.size());
  }
}

}  // namespace attend
