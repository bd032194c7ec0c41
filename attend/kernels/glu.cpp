// The gated linear unit and its gradient, both halves of a row in one pass.
#include "attend/kernels/glu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/glu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/activations-inl.h"
#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

void Glu(Rows x, MutableRows y) {
  const auto op = [](V a, V b) { return hn::Mul(a, Sigmoid(b)); };
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Transform(y.row(i), y.width, op, x.row(i), x.row(i) + y.width);
    }
  });
}

template <bool kAdd>
HWY_FLATTEN HWY_NOINLINE void BackwardRow(const float* x, const float* dy, float* dx,
                                          size_t width) {
  const auto update = [](auto at, V v, float* to) {
    at.Store(kAdd ? hn::Add(at.Load(to), v) : v, to);
  };
  ForEachRegister(width, [&](auto at, size_t j) {
    const V a = at.Load(x + j), b = at.Load(x + width + j), d = at.Load(dy + j);
    update(at, hn::Mul(d, Sigmoid(b)), dx + j);
    update(at, ActivateGradient<Activation::kSigmoid>(b, hn::Mul(d, a)), dx + width + j);
  });
}

void GluBackward(Rows x, Rows dy, MutableRows dx, bool add) {
  const auto row = add ? BackwardRow<true> : BackwardRow<false>;
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) row(x.row(i), dy.row(i), dx.row(i), dy.width);
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Glu);
HWY_EXPORT(GluBackward);

void glu(Rows x, MutableRows y) { HWY_DYNAMIC_DISPATCH(Glu)(x, y); }

void glu_backward(Rows x, Rows dy, MutableRows dx, bool add) {
  HWY_DYNAMIC_DISPATCH(GluBackward)(x, dy, dx, add);
}

}  // namespace attend::kernels
#endif
