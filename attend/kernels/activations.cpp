// Element-wise functions and their derivatives over arrays.
#include "attend/kernels/activations.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/activations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/activations-inl.h"
#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

void Forward(Activation f, const float* x, float* y, size_t size) {
  WithActivation(f, [&](auto kind) {
    ParallelUpdate(
        y, size, false, [](V v) { return Activate<decltype(kind)::value>(v); }, x);
  });
}

void Backward(Activation f, const float* x, const float* dy, float* dx, size_t size, bool add) {
  WithActivation(f, [&](auto kind) {
    const auto op = [](V v, V dv) { return ActivateGradient<decltype(kind)::value>(v, dv); };
    ParallelUpdate(dx, size, add, op, x, dy);
  });
}

HWY_FLATTEN HWY_NOINLINE void TanhWithSlope(const float* x, float* y, float* slope, size_t size) {
  ForEachRegister(size, [&](auto at, size_t i) {
    const ValueAndSlope tanh = TanhAndSlope(at.Load(x + i));
    at.Store(tanh.value, y + i);
    at.Store(tanh.slope, slope + i);
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);
HWY_EXPORT(TanhWithSlope);

void activate(Activation f, const float* x, float* y, size_t size) {
  HWY_DYNAMIC_DISPATCH(Forward)(f, x, y, size);
}

void activate_backward(Activation f, const float* x, const float* dy, float* dx, size_t size,
                       bool add) {
  HWY_DYNAMIC_DISPATCH(Backward)(f, x, dy, dx, size, add);
}

void tanh_with_slope(const float* x, float* y, float* slope, size_t size) {
  HWY_DYNAMIC_DISPATCH(TanhWithSlope)(x, y, slope, size);
}

}  // namespace attend::kernels
#endif
