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

void im2col(const Windows& windows, RowRange rows, Matrix x, size_t channels, float* columns) {
  const bool dense = x.stride == channels;
  WindowWalk walk(windows, rows.begin);
  for (; walk.row() < rows.end; walk.next()) {
    const auto sources = walk.sources();
    for (size_t tap = 0; tap < sources.size();) {
      const size_t first = sources[tap];
      size_t run = 1;  // neighbouring rows are copied at once
      while (dense && first != kOutside && tap + run < sources.size() &&
             sources[tap + run] == first + run) {
        ++run;
      }
      if (first == kOutside) {
        std::memset(columns, 0, channels * sizeof(float));
      } else {
        std::memcpy(columns, x.data + first * x.stride, run * channels * sizeof(float));
      }
      columns += run * channels;
      tap += run;
    }
  }
}

void col2im(const Windows& windows, RowRange rows, const float* columns, size_t channels,
            MutableMatrix x) {
  HWY_DYNAMIC_DISPATCH(Col2im)(windows, rows, columns, channels, x);
}

}  // namespace attend::kernels
#endif
