#include "attend/kernels/dropout.h"

#include <algorithm>
#include <cmath>

#include "attend/base/parallel.h"
#include "attend/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/dropout.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// y[i] = base[i] + (x[i] scale if kept, else 0) for one tile. Without kBase, `base` is not read.
template <bool kBase>
HWY_INLINE void DropTile(const KeepMask& mask, float scale, size_t tile, const float* x,
                         const float* base, float* y) {
  const MaskD d;
  const auto factor = hn::Set(d, scale);
  mask.ForTile(tile, [&](size_t at, hn::Mask<MaskD> keep) HWY_ATTR {
    const auto kept = hn::IfThenElseZero(keep, hn::Mul(hn::LoadU(d, x + at), factor));
    hn::StoreU(kBase ? hn::Add(hn::LoadU(d, base + at), kept) : kept, d, y + at);
  });
}

// The same for elements begin .. end - 1, where begin is the first of a tile.
template <bool kBase>
HWY_NOINLINE void DropSpan(const Dropout& options, size_t begin, size_t end, const float* x,
                           const float* base, float* y) {
  const KeepMask mask(options);
  const float scale = options.scale();
  size_t i = begin;
  for (; i + kMaskTile <= end; i += kMaskTile) {
    DropTile<kBase>(mask, scale, i / kMaskTile, x + i, base + i, y + i);
  }
  if (i == end) return;
  float last_x[kMaskTile] = {}, last_base[kMaskTile] = {}, last_y[kMaskTile];
  std::copy(x + i, x + end, last_x);
  if constexpr (kBase) std::copy(base + i, base + end, last_base);
  DropTile<kBase>(mask, scale, i / kMaskTile, last_x, last_base, last_y);
  std::copy(last_y, last_y + (end - i), y + i);
}

void DropAll(const Dropout& options, const float* x, const float* base, float* y, size_t size) {
  constexpr size_t kGrain = 256 * kMaskTile;
  parallel_for(size, kGrain, [&](size_t begin, size_t end) {
    if (base != nullptr) {
      DropSpan<true>(options, begin, end, x, base, y);
    } else {
      DropSpan<false>(options, begin, end, x, base, y);
    }
  });
}

void Factors(size_t first, float* factors, size_t size, const Dropout& options) {
  const MaskD d;
  const KeepMask mask(options);
  const auto scale = hn::Set(d, options.scale());
  float tile[kMaskTile];
  for (size_t i = 0; i < size;) {
    const size_t from = (first + i) % kMaskTile, count = std::min(kMaskTile - from, size - i);
    mask.ForTile((first + i) / kMaskTile, [&](size_t at, hn::Mask<MaskD> keep) HWY_ATTR {
      hn::StoreU(hn::IfThenElseZero(keep, scale), d, tile + at);
    });
    std::copy(tile + from, tile + from + count, factors + i);
    i += count;
  }
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {
namespace {

HWY_EXPORT(DropAll);
HWY_EXPORT(Factors);

constexpr uint32_t kAlways = 65536;

void drop(const float* x, const float* base, float* y, size_t size, const Dropout& options) {
  if (options.threshold() == kAlways) {
    return base == nullptr ? copy(x, y, size) : add(x, base, y, size);
  }
  HWY_DYNAMIC_DISPATCH(DropAll)(options, x, base, y, size);
}

}  // namespace

uint32_t Dropout::threshold() const {
  const double kept = std::nearbyint((1.0 - static_cast<double>(chance)) * kAlways);
  return static_cast<uint32_t>(std::clamp(kept, 1.0, static_cast<double>(kAlways)));
}

void dropout(const float* x, float* y, size_t size, const Dropout& options) {
  drop(x, nullptr, y, size, options);
}

void dropout_backward(const float* dy, float* dx, size_t size, const Dropout& options, bool add) {
  drop(dy, add ? dx : nullptr, dx, size, options);
}

void dropout_add(const float* x, const float* residual, float* y, size_t size,
                 const Dropout& options) {
  drop(x, residual, y, size, options);
}

void dropout_factors(size_t first, float* factors, size_t size, const Dropout& options) {
  HWY_DYNAMIC_DISPATCH(Factors)(first, factors, size, options);
}

}  // namespace attend::kernels
#endif
