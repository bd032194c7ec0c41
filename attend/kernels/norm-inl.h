// What layer and RMS normalisation share: one row forward, and the gradient over all rows. A row is
// read from memory once and again from the first cache. kCentred tells layer (true) from RMS
// (false), where the mean counts as 0.
#if defined(ATTEND_KERNELS_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_NORM_INL_H_
#undef ATTEND_KERNELS_NORM_INL_H_
#else
#define ATTEND_KERNELS_NORM_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "attend/kernels/column_sums-inl.h"
#include "attend/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

struct RowStatistics {
  float mean, rstd;
};

// One pass, over x - x[0]: that is at most sqrt(width) standard deviations from the mean, which
// bounds what the difference of squares below can cancel. width > 0.
template <bool kCentred>
HWY_FLATTEN HWY_NOINLINE RowStatistics Statistics(const float* x, size_t width, float eps) {
  const float n = static_cast<float>(width), shift = kCentred ? x[0] : 0.0f;
  const V shifts = hn::Set(D(), shift);
  Accumulator sum, squares;
  ForEachRegisterBy4(width, [&](auto at, size_t i, size_t k) {
    const V v = kCentred ? at.Keep(hn::Sub(at.Load(x + i), shifts)) : at.Load(x + i);
    if constexpr (kCentred) sum.part[k] = hn::Add(sum.part[k], v);
    squares.part[k] = hn::MulAdd(v, v, squares.part[k]);
  });
  const float mean = kCentred ? sum.Total() / n : 0.0f;
  const float variance = squares.Total() / n - mean * mean;
  return {shift + mean, 1.0f / std::sqrt(std::max(variance, 0.0f) + eps)};
}

// y = (x - mean) rstd gamma + beta; gamma and beta may be null.
HWY_INLINE void Normalise(const float* x, size_t width, RowStatistics row, const float* gamma,
                          const float* beta, float* y) {
  const V mean = hn::Set(D(), row.mean), rstd = hn::Set(D(), row.rstd);
  const auto unit = [=](V v) { return hn::Mul(hn::Sub(v, mean), rstd); };
  if (gamma != nullptr && beta != nullptr) {
    const auto op = [=](V v, V g, V b) { return hn::MulAdd(unit(v), g, b); };
    Transform(y, width, op, x, gamma, beta);
  } else if (gamma != nullptr) {
    Transform(
        y, width, [=](V v, V g) { return hn::Mul(unit(v), g); }, x, gamma);
  } else if (beta != nullptr) {
    Transform(
        y, width, [=](V v, V b) { return hn::Add(unit(v), b); }, x, beta);
  } else {
    Transform(y, width, unit, x);
  }
}

// The rows of a gradient: what comes in, what was kept, and where it goes.
struct NormGradient {
  Rows x, dy;
  const float *gamma, *mean, *rstd;  // gamma may be null; mean is when not centred
  MutableRows dx;
  float *dgamma, *dbeta;  // may be null
  bool add;
};

// Sums over a row of g = dy gamma and of g c, where c = x - mean.
struct GradientSums {
  float g, gc;
};

HWY_FLATTEN HWY_NOINLINE inline GradientSums SumGradient(const NormGradient& rows, size_t row,
                                                         float mean) {
  const float *x = rows.x.row(row), *dy = rows.dy.row(row), *gamma = rows.gamma;
  const V centre = hn::Set(D(), mean);
  Accumulator sum_g, sum_gc;
  ForEachRegisterBy4(rows.x.width, [&](auto at, size_t i, size_t k) {
    V g = at.Load(dy + i);
    if (gamma != nullptr) g = hn::Mul(g, at.Load(gamma + i));
    sum_g.part[k] = hn::Add(sum_g.part[k], g);
    sum_gc.part[k] = hn::MulAdd(g, hn::Sub(at.Load(x + i), centre), sum_gc.part[k]);
  });
  return {sum_g.Total(), sum_gc.Total()};
}

// dx = rstd (g - mean(g) - c rstd^2 mean(g c)). Adds dy c rstd to the first `width` of the totals,
// for dgamma, and dy to the next, for dbeta.
template <bool kCentred>
HWY_FLATTEN HWY_NOINLINE void GradientRow(const NormGradient& rows, size_t row, float* totals) {
  const D d;
  const size_t width = rows.x.width;
  const float mean = kCentred ? rows.mean[row] : 0.0f, rstd = rows.rstd[row];
  const GradientSums sums = SumGradient(rows, row, mean);
  const float n = static_cast<float>(width);
  const V centre = hn::Set(d, mean), scale = hn::Set(d, rstd);
  const V constant = hn::Set(d, kCentred ? rstd * sums.g / n : 0.0f);
  const V slope = hn::Set(d, rstd * rstd * rstd * sums.gc / n);
  const float *x = rows.x.row(row), *dy = rows.dy.row(row), *gamma = rows.gamma;
  float *dx = rows.dx.row(row), *dbeta = totals + width;
  const bool add = rows.add;
  ForEachRegister(width, [&](auto at, size_t i) {
    const V dv = at.Load(dy + i);
    const V c = hn::Sub(at.Load(x + i), centre);
    const V unit = hn::Mul(c, scale);
    at.Store(hn::MulAdd(dv, unit, at.Load(totals + i)), totals + i);
    if constexpr (kCentred) at.Store(hn::Add(dv, at.Load(dbeta + i)), dbeta + i);
    const V g = gamma != nullptr ? hn::Mul(dv, at.Load(gamma + i)) : dv;
    V out = hn::NegMulAdd(c, slope, hn::MulSub(g, scale, constant));
    if (add) out = hn::Add(out, at.Load(dx + i));
    at.Store(out, dx + i);
  });
}

template <bool kCentred>
void NormBackward(const NormGradient& rows) {
  const size_t width = rows.x.width;
  const auto chunk = [&](size_t begin, size_t end, float* own) {
    for (size_t i = begin; i < end; ++i) GradientRow<kCentred>(rows, i, own);
  };
  const size_t size = kCentred ? 2 * width : width;
  const float* totals = SumOverRows(rows.x.count, width, size, chunk);
  Deliver(totals, rows.dgamma, width, true);
  if constexpr (kCentred) Deliver(totals + width, rows.dbeta, width, true);
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
