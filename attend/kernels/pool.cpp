#include "attend/kernels/pool.h"

#include <algorithm>
#include <vector>

#include "attend/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/pool.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

HWY_INLINE void MaxRow(std::span<const size_t> sources, Rows x, float* y, float* choice) {
  const D d;
  ForLanes(x.width, [&](size_t c, auto lanes) {
    V best = hn::Zero(d), from = hn::Set(d, -1.0f);
    bool first = true;
    for (size_t tap = 0; tap < sources.size(); ++tap) {
      if (sources[tap] == kOutside) continue;
      const V value = lanes.Load(x.row(sources[tap]) + c);
      const V here = hn::Set(d, static_cast<float>(tap));
      const auto better = hn::Or(hn::Gt(value, best), hn::IsNaN(value));
      best = first ? value : hn::IfThenElse(better, value, best);
      from = first ? here : hn::IfThenElse(better, here, from);
      first = false;
    }
    lanes.Store(best, y + c);
    if (choice != nullptr) lanes.Store(from, choice + c);
  });
}

void MaxPool(const Windows& windows, RowRange rows, Rows x, float* y, float* choice) {
  for (WindowWalk walk(windows, rows.begin); walk.row() < rows.end; walk.next()) {
    const size_t offset = walk.row() * x.width;
    MaxRow(walk.sources(), x, y + offset, choice == nullptr ? nullptr : choice + offset);
  }
}

// windows: for each row of dx those of dy whose window it lies under.
void MaxPoolBackward(const Windows& windows, RowRange rows, const float* choice, const float* dy,
                     MutableRows dx, bool add) {
  const D d;
  for (WindowWalk walk(windows, rows.begin); walk.row() < rows.end; walk.next()) {
    float* to = dx.row(walk.row());
    ForLanes(dx.width, [&](size_t c, auto lanes) {
      V sum = add ? lanes.Load(to + c) : hn::Zero(d);
      const auto sources = walk.sources();
      for (size_t tap = 0; tap < sources.size(); ++tap) {
        if (sources[tap] == kOutside) continue;
        const size_t at = sources[tap] * dx.width + c;
        const auto chosen = hn::Eq(lanes.Load(choice + at), hn::Set(d, static_cast<float>(tap)));
        sum = hn::Add(sum, hn::IfThenElseZero(chosen, lanes.Load(dy + at)));
      }
      lanes.Store(sum, to + c);
    });
  }
}

HWY_INLINE float ScaleOf(std::span<const size_t> sources, PoolCount count) {
  if (count == PoolCount::kAll) return 1.0f / static_cast<float>(sources.size());
  const auto outside = std::count(sources.begin(), sources.end(), kOutside);
  const size_t inside = sources.size() - static_cast<size_t>(outside);
  return inside == 0 ? 0.0f : 1.0f / static_cast<float>(inside);
}

void AveragePool(const Windows& windows, RowRange rows, PoolCount count, Rows x, float* y) {
  const D d;
  for (WindowWalk walk(windows, rows.begin); walk.row() < rows.end; walk.next()) {
    const V scale = hn::Set(d, ScaleOf(walk.sources(), count));
    float* to = y + walk.row() * x.width;
    ForLanes(x.width, [&](size_t c, auto lanes) {
      V sum = hn::Zero(d);
      for (const size_t source : walk.sources()) {
        if (source != kOutside) sum = hn::Add(sum, lanes.Load(x.row(source) + c));
      }
      lanes.Store(hn::Mul(sum, scale), to + c);
    });
  }
}

void PoolScales(const Windows& windows, PoolCount count, float* scales) {
  const size_t rows = windows.to.rows();
  for (WindowWalk walk(windows, 0); walk.row() < rows; walk.next()) {
    scales[walk.row()] = ScaleOf(walk.sources(), count);
  }
}

void AveragePoolBackward(const Windows& windows, RowRange rows, const float* scales,
                         const float* dy, MutableRows dx, bool add) {
  const D d;
  for (WindowWalk walk(windows, rows.begin); walk.row() < rows.end; walk.next()) {
    float* to = dx.row(walk.row());
    ForLanes(dx.width, [&](size_t c, auto lanes) {
      V sum = add ? lanes.Load(to + c) : hn::Zero(d);
      for (const size_t source : walk.sources()) {
        if (source == kOutside) continue;
        sum = hn::MulAdd(hn::Set(d, scales[source]), lanes.Load(dy + source * dx.width + c), sum);
      }
      lanes.Store(sum, to + c);
    });
  }
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(MaxPool);
HWY_EXPORT(MaxPoolBackward);
HWY_EXPORT(AveragePool);
HWY_EXPORT(PoolScales);
HWY_EXPORT(AveragePoolBackward);

namespace {

template <typename Body>
void for_row_chunks(const Windows& windows, size_t channels, Body&& body) {
  const size_t grain = 1 + 32768 / (channels * windows.taps() + 1);
  parallel_for(windows.to.rows(), grain, [&](size_t begin, size_t end) {
    body(RowRange{begin, end});
  });
}

}  // namespace

void max_pool(const Windows& windows, Rows x, float* y, float* choice) {
  for_row_chunks(windows, x.width, [&](RowRange rows) {
    HWY_DYNAMIC_DISPATCH(MaxPool)(windows, rows, x, y, choice);
  });
}

void max_pool_backward(const Windows& windows, const float* choice, const float* dy, MutableRows dx,
                       bool add) {
  const Windows back = windows.transpose();
  for_row_chunks(back, dx.width, [&](RowRange rows) {
    HWY_DYNAMIC_DISPATCH(MaxPoolBackward)(back, rows, choice, dy, dx, add);
  });
}

void average_pool(const Windows& windows, PoolCount count, Rows x, float* y) {
  for_row_chunks(windows, x.width, [&](RowRange rows) {
    HWY_DYNAMIC_DISPATCH(AveragePool)(windows, rows, count, x, y);
  });
}

void average_pool_backward(const Windows& windows, PoolCount count, const float* dy, MutableRows dx,
                           bool add) {
  static thread_local std::vector<float> scales;
  scales.resize(windows.to.rows());
  HWY_DYNAMIC_DISPATCH(PoolScales)(windows, count, scales.data());
  const float* scale = scales.data();
  const Windows back = windows.transpose();
  for_row_chunks(back, dx.width, [&](RowRange rows) {
    HWY_DYNAMIC_DISPATCH(AveragePoolBackward)(back, rows, scale, dy, dx, add);
  });
}

}  // namespace attend::kernels
#endif
