// Layer normalisation.
#include "attend/kernels/layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/layer_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

void Forward(Rows x, const LayerNorm& norm, MutableRows y, float* mean, float* rstd) {
  if (x.width == 0) return;
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const float* row = x.row(i);
      const RowStatistics s = Statistics<true>(row, x.width, norm.eps);
      Normalise(row, x.width, s, norm.gamma, norm.beta, y.row(i));
      if (mean != nullptr) mean[i] = s.mean;
      if (rstd != nullptr) rstd[i] = s.rstd;
    }
  });
}

void Backward(Rows x, Rows dy, const float* gamma, const float* mean, const float* rstd,
              const LayerNormGradient& to) {
  NormBackward<true>({x, dy, gamma, mean, rstd, to.dx, to.dgamma, to.dbeta, to.add});
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);

void layer_norm(Rows x, const LayerNorm& norm, MutableRows y, float* mean, float* rstd) {
  HWY_DYNAMIC_DISPATCH(Forward)(x, norm, y, mean, rstd);
}

void layer_norm_backward(Rows x, Rows dy, const float* gamma, const float* mean, const float* rstd,
                         const LayerNormGradient& gradient) {
  HWY_DYNAMIC_DISPATCH(Backward)(x, dy, gamma, mean, rstd, gradient);
}

}  // namespace attend::kernels
#endif
