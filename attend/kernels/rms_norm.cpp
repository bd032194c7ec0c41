// Root-mean-square normalisation.
#include "attend/kernels/rms_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/rms_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

void Forward(Rows x, const RmsNorm& norm, MutableRows y, float* rstd) {
  if (x.width == 0) return;
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const float* row = x.row(i);
      const RowStatistics s = Statistics<false>(row, x.width, norm.eps);
      Normalise(row, x.width, s, norm.gamma, nullptr, y.row(i));
      if (rstd != nullptr) rstd[i] = s.rstd;
    }
  });
}

void Backward(Rows x, Rows dy, const float* gamma, const float* rstd, const RmsNormGradient& to) {
  NormBackward<false>({x, dy, gamma, nullptr, rstd, to.dx, to.dgamma, nullptr, to.add});
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);

void rms_norm(Rows x, const RmsNorm& norm, MutableRows y, float* rstd) {
  HWY_DYNAMIC_DISPATCH(Forward)(x, norm, y, rstd);
}

void rms_norm_backward(Rows x, Rows dy, const float* gamma, const float* rstd,
                       const RmsNormGradient& gradient) {
  HWY_DYNAMIC_DISPATCH(Backward)(x, dy, gamma, rstd, gradient);
}

}  // namespace attend::kernels
#endif
