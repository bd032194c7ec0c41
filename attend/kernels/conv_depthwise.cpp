#include "attend/kernels/conv_depthwise.h"

#include "attend/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/conv_depthwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// One row of y: whole sums stay in a register over the taps.
HWY_INLINE void DepthwiseRow(const Depthwise& conv, Matrix x, std::span<const size_t> sources,
                             float* y) {
  const D d;
  ForLanes(conv.channels, [&](size_t c, auto lanes) {
    V sum = conv.bias != nullptr ? lanes.Load(conv.bias + c) : hn::Zero(d);
    if (conv.add) sum = hn::Add(sum, lanes.Load(y + c));
    const float* weight = conv.taps + c;
    for (const size_t source : sources) {
      if (source != kOutside) {
        sum = hn::MulAdd(lanes.Load(weight), lanes.Load(x.data + source * x.stride + c), sum);
      }
      weight += conv.channels;
    }
    lanes.Store(sum, y + c);
  });
}

void DepthwiseForward(const Depthwise& conv, RowRange rows, Matrix x, MutableMatrix y) {
  WindowWalk walk(conv.windows, rows.begin);
  for (; walk.row() < rows.end; walk.next()) {
    DepthwiseRow(conv, x, walk.sources(), y.data + walk.row() * y.stride);
  }
}

HWY_INLINE void AddProducts(const float* a, const float* b, size_t size, float* to) {
  ForLanes(size, [&](size_t i, auto lanes) {
    lanes.Store(hn::MulAdd(lanes.Load(a + i), lanes.Load(b + i), lanes.Load(to + i)), to + i);
  });
}

void DepthwiseBackwardWeight(const Windows& windows, RowRange rows, Matrix x, Matrix dy,
                             MutableMatrix dtaps) {
  WindowWalk walk(windows, rows.begin);
  for (; walk.row() < rows.end; walk.next()) {
    const auto sources = walk.sources();
    for (size_t tap = 0; tap < sources.size(); ++tap) {
      if (sources[tap] == kOutside) continue;
      AddProducts(dy.data + walk.row() * dy.stride, x.data + sources[tap] * x.stride, dtaps.stride,
                  dtaps.data + tap * dtaps.stride);
    }
  }
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(DepthwiseForward);
HWY_EXPORT(DepthwiseBackwardWeight);

void depthwise_forward(const Depthwise& conv, Matrix x, MutableMatrix y) {
  const size_t grain = 1 + 65536 / (conv.channels * conv.windows.taps() + 1);
  parallel_for(conv.windows.to.rows(), grain, [&](size_t begin, size_t end) {
    HWY_DYNAMIC_DISPATCH(DepthwiseForward)(conv, {begin, end}, x, y);
  });
}

void depthwise_backward_weight(const Windows& windows, RowRange rows, Matrix x, Matrix dy,
                               MutableMatrix dtaps) {
  HWY_DYNAMIC_DISPATCH(DepthwiseBackwardWeight)(windows, rows, x, dy, dtaps);
}

}  // namespace attend::kernels
#endif
