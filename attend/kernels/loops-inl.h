// Loops over contiguous floats, shared by the kernels: whole registers, then a part of one that
// neither reads nor writes past the end.
#if defined(ATTEND_KERNELS_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_LOOPS_INL_H_
#undef ATTEND_KERNELS_LOOPS_INL_H_
#else
#define ATTEND_KERNELS_LOOPS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstring>

#include "attend/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// On AVX2 and later a masked access of 32-bit lanes never touches memory outside the mask.
inline constexpr bool kSafeMasks = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;

// The first `count` < Lanes(D) elements, zero in the other lanes.
HWY_INLINE V LoadPart(const float* from, size_t count) {
  const D d;
  if constexpr (kSafeMasks) return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  HWY_ALIGN float lanes[hn::MaxLanes(D())] = {};
  std::memcpy(lanes, from, count * sizeof(float));
  return hn::Load(d, lanes);
}

HWY_INLINE void StorePart(V v, float* to, size_t count) {
  const D d;
  if constexpr (kSafeMasks) return hn::BlendedStore(v, hn::FirstN(d, count), d, to);
  HWY_ALIGN float lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  std::memcpy(to, lanes, count * sizeof(float));
}

// y[i] = op(inputs[i]...), one register at a time; an input may be y itself. Flattened, so that op
// is inlined in both places, and kept out of line, so that its constants stay in registers.
template <typename Op, typename... Input>
HWY_FLATTEN HWY_NOINLINE void Transform(float* y, size_t size, Op op, const Input*... inputs) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= size; i += lanes) hn::StoreU(op(hn::LoadU(d, inputs + i)...), d, y + i);
  if (i < size) StorePart(op(LoadPart(inputs + i, size - i)...), y + i, size - i);
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
