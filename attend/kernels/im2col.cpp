#include "attend/kernels/im2col.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/im2col.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

HWY_INLINE void AddTo(const float* from, size_t size, float* to) {
  ForLanes(size, [&](size_t i, auto lanes) {
    lanes.Store(hn::Add(lanes.Load(to + i), lanes.Load(from + i)), to + i);
  });
}

void Col2im(const Windows& windows, RowRange rows, const float* columns, size_t channels,
            MutableMatrix x) {
  WindowWalk walk(windows, rows.begin);
  for (; walk.row() < rows.end; walk.next()) {
    for (const size_t source : walk.sources()) {
      if (source != kOutside) AddTo(columns, channels, x.data + source * x.stride);
      columns += channels;
    }
  }
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Col2im);

namespace {

// How many taps from the first on have neighbouring rows, to be copied at once.
size_t run_length(std::span<const size_t> sources) {
  size_t run = 1;
  while (run < sources.size() && sources[run] == sources[0] + run) ++run;
  return run;
}

}  // namespace

void im2col(const Windows& windows, RowRange rows, Matrix x, ChannelGroups groups, float* columns) {
  const size_t channels = groups.channels, group_step = rows.size() * windows.taps() * channels;
  const bool dense = x.stride == channels;
  for (WindowWalk walk(windows, rows.begin); walk.row() < rows.end; walk.next()) {
    const auto sources = walk.sources();
    for (size_t tap = 0, run; tap < sources.size(); tap += run, columns += run * channels) {
      const bool outside = sources[tap] == kOutside;
      run = dense && !outside ? run_length(sources.subspan(tap)) : 1;
      const size_t bytes = run * channels * sizeof(float);
      for (size_t g = 0; g < groups.count; ++g) {
        float* to = columns + g * group_step;
        if (outside) {
          std::memset(to, 0, bytes);
        } else {
          std::memcpy(to, x.data + sources[tap] * x.stride + g * channels, bytes);
        }
      }
    }
  }
}

void col2im(const Windows& windows, RowRange rows, const float* columns, size_t channels,
            MutableMatrix x) {
  HWY_DYNAMIC_DISPATCH(Col2im)(windows, rows, columns, channels, x);
}

}  // namespace attend::kernels
#endif
