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

}  // namespace
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
