#include "attend/kernels/embedding.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "attend/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/embedding.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// y = scale x, or y += scale x where `add`.
void ScaleRow(const float* x, float scale, float* y, size_t width, bool add) {
  const V factor = hn::Set(D(), scale);
  ForLanes(width, [&](size_t i, auto lanes) HWY_ATTR {
    const V base = add ? lanes.Load(y + i) : hn::Zero(D());
    lanes.Store(hn::MulAdd(lanes.Load(x + i), factor, base), y + i);
  });
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {
namespace {

HWY_EXPORT(ScaleRow);

constexpr size_t kGrain = 1 << 14;  // floats that a chunk reads or writes, at least

size_t row_grain(size_t width) { return std::max<size_t>(1, kGrain / std::max<size_t>(1, width)); }

// The places of each id, in order: those of id are order[start[id]] .. order[start[id + 1] - 1].
// Memory is kept from call to call.
struct Occurrences {
  std::vector<uint32_t> start, order;

  void sort(std::span<const int32_t> ids, size_t vocab) {
    start.assign(vocab + 2, 0);
    order.resize(ids.size());
    // Counted two places further on, so that filling in leaves each start where it belongs.
    for (const int32_t id : ids) ++start[static_cast<size_t>(id) + 2];
    for (size_t id = 2; id < start.size(); ++id) start[id] += start[id - 1];
    for (size_t i = 0; i < ids.size(); ++i) {
      order[start[static_cast<size_t>(ids[i]) + 1]++] = static_cast<uint32_t>(i);
    }
  }
  std::span<const uint32_t> of(size_t id) const {
    return std::span(order).subspan(start[id], start[id + 1] - start[id]);
  }
};

}  // namespace

void embedding(const Embedding& rows, const float* table, float* y) {
  const auto scale_row = HWY_DYNAMIC_DISPATCH(ScaleRow);
  parallel_for(rows.ids.size(), row_grain(rows.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const float* from = table + static_cast<size_t>(rows.ids[i]) * rows.width;
      float* to = y + i * rows.width;
      if (rows.scale == 1.0f) {
        std::copy(from, from + rows.width, to);
      } else {
        scale_row(from, rows.scale, to, rows.width, false);
      }
    }
  });
}

void embedding_backward(const Embedding& rows, const float* dy, float* d_table, bool add) {
  thread_local Occurrences occurrences;
  occurrences.sort(rows.ids, rows.vocab);
  const Occurrences& sorted = occurrences;
  const auto scale_row = HWY_DYNAMIC_DISPATCH(ScaleRow);
  parallel_for(rows.vocab, row_grain(rows.width), [&](size_t begin, size_t end) {
    for (size_t id = begin; id < end; ++id) {
      float* to = d_table + id * rows.width;
      bool added = add;
      for (const uint32_t i : sorted.of(id)) {
        scale_row(dy + i * rows.width, rows.scale, to, rows.width, added);
        added = true;
      }
      if (!added) std::fill(to, to + rows.width, 0.0f);
    }
  });
}

size_t first_id_outside(std::span<const int32_t> ids, size_t vocab) {
  // A negative id is a huge one without its sign.
  const auto outside = [&](int32_t id) { return static_cast<size_t>(id) >= vocab; };
  return static_cast<size_t>(std::find_if(ids.begin(), ids.end(), outside) - ids.begin());
}

}  // namespace attend::kernels
#endif
