// Element-wise functions and their derivatives over arrays.
#include "attend/kernels/activations.h"

#include "attend/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/activations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/activations-inl.h"
#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

constexpr size_t kGrain = 16384;

void Forward(Activation f, const float* x, float* y, size_t size) {
  WithActivation(f, [&](auto kind) {
    const auto op = [](V v) { return Activate<decltype(kind)::value>(v); };
    parallel_for(size, kGrain, [&](size_t begin, size_t end) {
      Transform(y + begin, end - begin, op, x + begin);
    });
  });
}

void Backward(Activation f, const float* x, const float* dy, float* dx, size_t size, bool add) {
  WithActivation(f, [&](auto kind) {
    constexpr Activation kF = decltype(kind)::value;
    const auto overwrite = [](V v, V dv) { return ActivateGradient<kF>(v, dv); };
    const auto accumulate = [](V v, V dv, V sum) {
      return hn::Add(sum, ActivateGradient<kF>(v, dv));
    };
    parallel_for(size, kGrain, [&](size_t i, size_t end) {
      if (add) {
        Transform(dx + i, end - i, accumulate, x + i, dy + i, dx + i);
      } else {
        Transform(dx + i, end - i, overwrite, x + i, dy + i);
      }
    });
  });
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);

void activate(Activation f, const float* x, float* y, size_t size) {
  HWY_DYNAMIC_DISPATCH(Forward)(f, x, y, size);
}

void activate_backward(Activation f, const float* x, const float* dy, float* dx, size_t size,
                       bool add) {
  HWY_DYNAMIC_DISPATCH(Backward)(f, x, dy, dx, size, add);
}

}  // namespace attend::kernels
#endif
