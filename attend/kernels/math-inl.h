// Vector functions of one fp32 register, shared by the kernels; included once for each SIMD target.
// Error bounds are stated in kernels/activations.h and checked by
// tests/kernels/activations_test.cpp. Polynomials are minimax fits over the reduced range. NaN
// stays NaN.
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

// max(low, x) and min(high, x), NaN where x is. On x86 Max and Min give their second operand where
// one is NaN; on NEON they may give the number.
HWY_INLINE V AtLeast(float low, V x) {
  const V bound = hn::Set(D(), low);
  return HWY_ARCH_X86 ? hn::Max(bound, x) : hn::IfThenElse(hn::Lt(x, bound), bound, x);
}
HWY_INLINE V AtMost(float high, V x) {
  const V bound = hn::Set(D(), high);
  return HWY_ARCH_X86 ? hn::Min(bound, x) : hn::IfThenElse(hn::Gt(x, bound), bound, x);
}
HWY_INLINE V Clamp(V x, float low, float high) { return AtLeast(low, AtMost(high, x)); }

// e^x = 2 scale (1 + tail): scale = 2^(n-1) and tail = e^r - 1 for x = n ln 2 + r, |r| <= ln(2)
// / 2.
struct ExpParts {
  V scale, tail;
};

// For x in [-87.5, 89]. One power less than n, so that n = 128 still has a finite scale.
HWY_INLINE ExpParts SplitExp(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  // Adding 1.5 * 2^23 rounds to a whole number and leaves it, biased, in the low bits.
  const V shift = hn::Set(d, 12582912.0f + 126.0f);
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), shift);
  const V n = hn::Sub(shifted, shift);
  const V scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  // ln 2 in two parts; products with the first one are exact.
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V p = hn::Set(d, 1.39467948e-3f);
  p = hn::MulAdd(p, r, hn::Set(d, 8.36677746e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.16662774e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.66665415e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  return {scale, hn::MulAdd(hn::Mul(p, r), r, r)};
}

// e^x; 0 where that is below 2^-125.5 (x < -86.99: no denormals), infinity above 88.72.
HWY_INLINE V Exp(V x) {
  const ExpParts e = SplitExp(Clamp(x, -87.5f, 89.0f));
  const V half = hn::MulAdd(e.scale, e.tail, e.scale);
  return hn::Add(half, half);
}

// e^x - 1 for x in [-87.5, 0], accurate near 0.
HWY_INLINE V ExpMinusOneOfNegative(V x) {
  const ExpParts e = SplitExp(x);
  const V scale = hn::Add(e.scale, e.scale);
  return hn::MulAdd(scale, e.tail, hn::Sub(scale, hn::Set(D(), 1.0f)));
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
  // log(1 + f) = f - f^2 / 2 + f^3 p(f)
  const V f = hn::Sub(m, hn::Set(d, 1.0f));
  V p = hn::Set(d, 6.91553972e-2f);
  p = hn::MulAdd(p, f, hn::Set(d, -1.17898482e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.18729164e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -1.23843372e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.42186655e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -1.66692518e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.00022262e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -2.49999866e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 3.33333104e-1f));
  const V z = hn::Mul(f, f);
  V y = hn::Mul(hn::Mul(p, f), z);
  y = hn::MulAdd(e, hn::Set(d, -2.12194440e-4f), y);
  y = hn::NegMulAdd(hn::Set(d, 0.5f), z, y);
  return hn::MulAdd(e, hn::Set(d, 0.693359375f), hn::Add(f, y));
}

// log(1 + x) for x in [0, 1], as 2 atanh(x / (2 + x)); accurate near 0.
HWY_INLINE V Log1p(V x) {
  const D d;
  const V s = hn::Div(x, hn::Add(hn::Set(d, 2.0f), x));
  const V z = hn::Mul(s, s);
  V p = hn::Set(d, 1.21504750e-1f);
  p = hn::MulAdd(p, z, hn::Set(d, 1.07138271e-1f));
  p = hn::MulAdd(p, z, hn::Set(d, 1.43084425e-1f));
  p = hn::MulAdd(p, z, hn::Set(d, 1.99994389e-1f));
  p = hn::MulAdd(p, z, hn::Set(d, 3.33333378e-1f));
  const V twice = hn::Add(s, s);
  return hn::MulAdd(hn::Mul(twice, z), p, twice);
}

// 1 / (1 + e^-x). The quotient keeps its relative accuracy in both tails.
HWY_INLINE V Sigmoid(V x) {
  const V one = hn::Set(D(), 1.0f);
  return hn::Div(one, hn::Add(one, Exp(hn::Neg(x))));
}

// tanh |x| = -m / (2 + m) with m = e^(-2 |x|) - 1, which does not cancel near 0.
HWY_INLINE V Tanh(V x) {
  const D d;
  const V a = AtMost(20.0f, hn::Abs(x));
  const V m = ExpMinusOneOfNegative(hn::Mul(a, hn::Set(d, -2.0f)));
  return hn::CopySign(hn::Div(m, hn::Add(hn::Set(d, 2.0f), m)), x);
}

// A function and its derivative, which share an exponential and a division. The derivative does not
// come from the value, where it would cancel: in float 1 - sigmoid(17) and 1 - tanh(10) are 0.
struct ValueAndSlope {
  V value, slope;
};

// With e = e^-|x|: 1 / (1 + e) or e / (1 + e) by the sign of x, and e / (1 + e)^2.
HWY_INLINE ValueAndSlope SigmoidAndSlope(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f), e = Exp(hn::Neg(hn::Abs(x)));
  const V large = hn::Div(one, hn::Add(one, e)), small = hn::Mul(e, large);
  return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), small, large), hn::Mul(small, large)};
}

// With m = e^(-2 |x|) - 1, as in Tanh: the slope is 4 e^(-2 |x|) / (2 + m)^2.
HWY_INLINE ValueAndSlope TanhAndSlope(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V a = AtMost(43.75f, hn::Abs(x));  // where e^(-2a) is 0
  const ExpParts parts = SplitExp(hn::Mul(a, hn::Set(d, -2.0f)));
  const V scale = hn::Add(parts.scale, parts.scale);
  const V e = hn::MulAdd(scale, parts.tail, scale);
  const V m = hn::MulAdd(scale, parts.tail, hn::Sub(scale, one));
  const V inverse = hn::Div(one, hn::Add(hn::Set(d, 2.0f), m));
  const V twice = hn::Add(inverse, inverse);
  return {hn::CopySign(hn::Mul(m, inverse), x), hn::Mul(hn::Mul(e, twice), twice)};
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
