// Vector functions of one fp32 register, shared by the kernels; included once for each SIMD target.
// Error bounds are stated in kernels/activations.h and checked by tests/kernels/activations_test.cpp.
#if defined(ATTEND_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_MATH_INL_H_
#undef ATTEND_KERNELS_MATH_INL_H_
#else
#define ATTEND_KERNELS_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// 2^n for whole n in [-126, 127].
HWY_INLINE V PowerOfTwo(V n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(hn::NearestInt(n), hn::Set(di, 127))));
}

// e^x. Below -87.33 it is 0 (no denormals), above 88.72 infinity; NaN stays NaN.
HWY_INLINE V Exp(V x) {
  const D d;
  const auto tiny = hn::Lt(x, hn::Set(d, -87.33654f));
  const auto huge = hn::Gt(x, hn::Set(d, 88.72283f));
  // x = n ln 2 + r, |r| <= ln(2) / 2; the split of ln 2 keeps r exact.
  const V n = hn::Round(hn::Mul(hn::Min(hn::Max(x, hn::Set(d, -87.4f)), hn::Set(d, 88.8f)),
                                hn::Set(d, 1.44269504f)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V p = hn::Set(d, 1.9875691500e-4f);
  p = hn::MulAdd(p, r, hn::Set(d, 1.3981999507e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1f));
  p = hn::MulAdd(p, hn::Mul(r, r), hn::Add(r, hn::Set(d, 1.0f)));
  // Two factors: n may reach 128, whose power alone would overflow.
  const V half = hn::Round(hn::Mul(n, hn::Set(d, 0.5f)));
  V y = hn::Mul(hn::Mul(p, PowerOfTwo(half)), PowerOfTwo(hn::Sub(n, half)));
  y = hn::IfThenZeroElse(tiny, y);
  return hn::IfThenElse(huge, hn::Inf(d), y);
}

// Natural logarithm of a positive normal number.
HWY_INLINE V Log(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  // Mantissa in [sqrt(1/2), sqrt(2)), so that the polynomial is centred on 1.
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3F3504F3)));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const V e = hn::ConvertTo(d, exponent);
  const V f = hn::Sub(m, hn::Set(d, 1.0f));
  V p = hn::Set(d, 7.0376836292e-2f);
  p = hn::MulAdd(p, f, hn::Set(d, -1.1514610310e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.1676998740e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -1.2420140846e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.4249322787e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -1.6668057665e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.0000714765e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -2.4999993993e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 3.3333331174e-1f));
  const V z = hn::Mul(f, f);
  V y = hn::Mul(hn::Mul(p, f), z);
  y = hn::MulAdd(e, hn::Set(d, -2.12194440e-4f), y);
  y = hn::NegMulAdd(hn::Set(d, 0.5f), z, y);
  return hn::MulAdd(e, hn::Set(d, 0.693359375f), hn::Add(f, y));
}

// 1 / (1 + e^-x), exact at both ends.
HWY_INLINE V Sigmoid(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V e = Exp(hn::Neg(hn::Abs(x)));
  const V low = hn::Div(e, hn::Add(one, e));  // sigmoid(-|x|)
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), low, hn::Sub(one, low));
}

HWY_INLINE V Tanh(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V a = hn::Abs(x);
  const V e = Exp(hn::Mul(a, hn::Set(d, -2.0f)));
  const V large = hn::Div(hn::Sub(one, e), hn::Add(one, e));
  // Near zero 1 - e cancels: an odd polynomial instead.
  const V z = hn::Mul(x, x);
  V p = hn::Set(d, -5.70498872745e-3f);
  p = hn::MulAdd(p, z, hn::Set(d, 2.06390887954e-2f));
  p = hn::MulAdd(p, z, hn::Set(d, -5.37397155531e-2f));
  p = hn::MulAdd(p, z, hn::Set(d, 1.33314422036e-1f));
  p = hn::MulAdd(p, z, hn::Set(d, -3.33332819422e-1f));
  const V small = hn::MulAdd(hn::Mul(p, z), a, a);
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.625f)), small, large), x);
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
