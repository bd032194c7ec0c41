// The activations and their derivatives on one fp32 register. The activation is a template
// parameter, so that a loop over a row is compiled once for each and holds no branch;
// with_activation picks it.
#if defined(ATTEND_KERNELS_ACTIVATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_ACTIVATIONS_INL_H_
#undef ATTEND_KERNELS_ACTIVATIONS_INL_H_
#else
#define ATTEND_KERNELS_ACTIVATIONS_INL_H_
#endif

#include <type_traits>

#include "attend/kernels/activations.h"
#include "attend/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// The upper tail of the normal distribution, 1 - Phi(a) = density * ratio, for a >= 0, where
// density = e^(-a^2 / 2) and ratio is a polynomial in 1 / (1 + 0.28 a), as in Abramowitz and
// Stegun 7.1.26.
struct NormalTail {
  V density, ratio;
};

HWY_INLINE NormalTail SplitNormalTail(V a) {
  const D d;
  const V t = hn::Div(hn::Set(d, 1.0f), hn::MulAdd(hn::Set(d, 0.28f), a, hn::Set(d, 1.0f)));
  V p = hn::Set(d, -0.106740017f);
  p = hn::MulAdd(p, t, hn::Set(d, 0.393768696f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.243459903f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.274239567f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.0653170352f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.116874621f));
  return {Exp(hn::Mul(hn::Mul(a, a), hn::Set(d, -0.5f))), hn::Mul(p, t)};
}

// x Phi(x) = max(x, 0) - |x| (1 - Phi(|x|)): the small term is found by itself, so nothing cancels.
HWY_INLINE V Gelu(V x) {
  const V a = AtMost(20.0f, hn::Abs(x));
  const NormalTail tail = SplitNormalTail(a);
  return hn::NegMulAdd(hn::Mul(a, tail.density), tail.ratio, AtLeast(0.0f, x));
}

// Phi(x) + x phi(x), which is h = density (ratio - a / sqrt(2 pi)) at -a and 1 - h at a.
HWY_INLINE V GeluSlope(V x) {
  const D d;
  const V a = AtMost(20.0f, hn::Abs(x));
  const NormalTail tail = SplitNormalTail(a);
  const V h = hn::Mul(tail.density, hn::NegMulAdd(a, hn::Set(d, 0.398942280f), tail.ratio));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), h, hn::Sub(hn::Set(d, 1.0f), h));
}

// The exponent of the tanh form, 0.5 x (1 + tanh(u)) = x / (1 + e^(-2u)), u = sqrt(2 / pi) (x +
// 0.044715 x^3).
inline constexpr float kGeluTanhLinear = -1.59576912f;
inline constexpr float kGeluTanhCubic = -0.0713548162f;

HWY_INLINE V GeluTanh(V x) {
  const D d;
  x = AtLeast(-20.0f, x);  // -inf / inf would be NaN
  const V slope =
      hn::MulAdd(hn::Mul(x, x), hn::Set(d, kGeluTanhCubic), hn::Set(d, kGeluTanhLinear));
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), Exp(hn::Mul(x, slope))));
}

// s + x s (1 - s) z', where s = 1 / (1 + e) and 1 - s = e s is not left to cancel.
HWY_INLINE V SwishSlope(V x, V e, V z_slope) {
  const V one = hn::Set(D(), 1.0f);
  const V s = hn::Div(one, hn::Add(one, e));
  return hn::MulAdd(hn::Mul(hn::Mul(x, z_slope), hn::Mul(e, s)), s, s);
}

HWY_INLINE V GeluTanhSlope(V x) {
  const D d;
  x = Clamp(x, -9.8f, 9.8f);  // where e is still finite
  const V z = hn::Mul(x, x);
  const V slope = hn::MulAdd(z, hn::Set(d, kGeluTanhCubic), hn::Set(d, kGeluTanhLinear));
  const V minus_z_slope =
      hn::MulAdd(z, hn::Set(d, 3 * kGeluTanhCubic), hn::Set(d, kGeluTanhLinear));
  return SwishSlope(x, Exp(hn::Mul(x, slope)), hn::Neg(minus_z_slope));
}

HWY_INLINE V Silu(V x) {
  const D d;
  x = AtLeast(-200.0f, x);  // -inf / inf would be NaN
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), Exp(hn::Neg(x))));
}

HWY_INLINE V SiluSlope(V x) {
  x = Clamp(x, -88.0f, 88.0f);
  return SwishSlope(x, Exp(hn::Neg(x)), hn::Set(D(), 1.0f));
}

HWY_INLINE V SigmoidSlope(V x) {
  const V one = hn::Set(D(), 1.0f);
  const V e = Exp(hn::Neg(hn::Abs(x)));
  const V s = hn::Div(one, hn::Add(one, e));
  return hn::Mul(hn::Mul(e, s), s);
}

// 1 - tanh^2 = 4 sigmoid'(2x), without the cancellation.
HWY_INLINE V TanhSlope(V x) { return hn::Mul(hn::Set(D(), 4.0f), SigmoidSlope(hn::Add(x, x))); }

HWY_INLINE V Softplus(V x) { return hn::Add(AtLeast(0.0f, x), Log1p(Exp(hn::Neg(hn::Abs(x))))); }

// f(x).
template <Activation kF>
HWY_INLINE V Activate(V x) {
  if constexpr (kF == Activation::kRelu) return AtLeast(0.0f, x);
  if constexpr (kF == Activation::kGelu) return Gelu(x);
  if constexpr (kF == Activation::kGeluTanh) return GeluTanh(x);
  if constexpr (kF == Activation::kSilu) return Silu(x);
  if constexpr (kF == Activation::kTanh) return Tanh(x);
  if constexpr (kF == Activation::kSigmoid) return Sigmoid(x);
  if constexpr (kF == Activation::kSoftplus) return Softplus(x);
  if constexpr (kF == Activation::kExp) return Exp(x);
  return x;
}

// dy f'(x).
template <Activation kF>
HWY_INLINE V ActivateGradient(V x, V dy) {
  if constexpr (kF == Activation::kIdentity) return dy;
  if constexpr (kF == Activation::kRelu) return hn::IfThenElseZero(hn::Gt(x, hn::Zero(D())), dy);
  if constexpr (kF == Activation::kGelu) return hn::Mul(dy, GeluSlope(x));
  if constexpr (kF == Activation::kGeluTanh) return hn::Mul(dy, GeluTanhSlope(x));
  if constexpr (kF == Activation::kSilu) return hn::Mul(dy, SiluSlope(x));
  if constexpr (kF == Activation::kTanh) return hn::Mul(dy, TanhSlope(x));
  if constexpr (kF == Activation::kSigmoid) return hn::Mul(dy, SigmoidSlope(x));
  if constexpr (kF == Activation::kSoftplus) return hn::Mul(dy, Sigmoid(x));
  if constexpr (kF == Activation::kExp) return hn::Mul(dy, Exp(x));
}

// Calls body(std::integral_constant<Activation, f>()): the branch is taken once, outside the loop.
template <typename Body>
HWY_INLINE void WithActivation(Activation f, const Body& body) {
  switch (f) {
    case Activation::kIdentity:
      return body(std::integral_constant<Activation, Activation::kIdentity>());
    case Activation::kRelu:
      return body(std::integral_constant<Activation, Activation::kRelu>());
    case Activation::kGelu:
      return body(std::integral_constant<Activation, Activation::kGelu>());
    case Activation::kGeluTanh:
      return body(std::integral_constant<Activation, Activation::kGeluTanh>());
    case Activation::kSilu:
      return body(std::integral_constant<Activation, Activation::kSilu>());
    case Activation::kTanh:
      return body(std::integral_constant<Activation, Activation::kTanh>());
    case Activation::kSigmoid:
      return body(std::integral_constant<Activation, Activation::kSigmoid>());
    case Activation::kSoftplus:
      return body(std::integral_constant<Activation, Activation::kSoftplus>());
    case Activation::kExp:
      return body(std::integral_constant<Activation, Activation::kExp>());
  }
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
