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
#include <limits>
#include <type_traits>

#include "attend/base/parallel.h"
#include "attend/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// Elements that are worth a thread of their own when each takes a few operations, and rows that
// hold as many. Plain arithmetic (ParallelUpdate) takes twice as many.
inline constexpr size_t kGrain = 16384;
HWY_INLINE size_t RowGrain(size_t width) { return width < kGrain ? kGrain / (width + 1) + 1 : 1; }

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

// How a step of a loop reaches memory: a whole register, or the last part of one.
struct Whole {
  HWY_INLINE V Load(const float* from) const { return hn::LoadU(D(), from); }
  HWY_INLINE void Store(V v, float* to) const { hn::StoreU(v, D(), to); }
  HWY_INLINE V Keep(V v) const { return v; }
  HWY_INLINE V KeepOr(V, V v) const { return v; }
};
struct Part {
  size_t count;
  HWY_INLINE V Load(const float* from) const { return LoadPart(from, count); }
  HWY_INLINE void Store(V v, float* to) const { StorePart(v, to, count); }
  // v, with zero, or `other`, in the lanes past the end.
  HWY_INLINE V Keep(V v) const { return hn::IfThenElseZero(hn::FirstN(D(), count), v); }
  HWY_INLINE V KeepOr(V other, V v) const {
    return hn::IfThenElse(hn::FirstN(D(), count), v, other);
  }
};

// Calls step(Whole or Part, i) for each register of `size` elements. Callers are HWY_FLATTEN, so
// that step is inlined in both places, and HWY_NOINLINE, so that its constants stay in registers.
template <typename Step>
HWY_INLINE void ForEachRegister(size_t size, const Step& step) {
  const size_t lanes = hn::Lanes(D());
  size_t i = 0;
  for (; i + lanes <= size; i += lanes) step(Whole(), i);
  if (i < size) step(Part{size - i}, i);
}

// The same as step(Whole or Part, i, k), k in 0 ... 3 by turns: which accumulator to use. Whole
// registers take turns to the end, so that zeros behind what is added up do not change a bit of it.
template <typename Step>
HWY_INLINE void ForEachRegisterBy4(size_t size, const Step& step) {
  const size_t lanes = hn::Lanes(D());
  size_t i = 0;
  for (; i + 4 * lanes <= size; i += 4 * lanes) {
    step(Whole(), i, 0);
    step(Whole(), i + lanes, 1);
    step(Whole(), i + 2 * lanes, 2);
    step(Whole(), i + 3 * lanes, 3);
  }
  const size_t left = (size - i) / lanes;
  if (left > 0) step(Whole(), i, 0);
  if (left > 1) step(Whole(), i + lanes, 1);
  if (left > 2) step(Whole(), i + 2 * lanes, 2);
  i += left * lanes;
  if (i < size) step(Part{size - i}, i, 3);
}

// y[i] = op(inputs[i]...); an input may be y itself.
template <typename Op, typename... Input>
HWY_FLATTEN HWY_NOINLINE void Transform(float* y, size_t size, Op op, const Input*... inputs) {
  ForEachRegister(size, [&](auto at, size_t i) { at.Store(op(at.Load(inputs + i)...), y + i); });
}

// The same, or y[i] += where `add`.
template <typename Op, typename... Input>
HWY_INLINE void Update(float* y, size_t size, bool add, Op op, const Input*... inputs) {
  if (add) {
    Transform(
        y, size, [op](V old, auto... v) { return hn::Add(old, op(v...)); }, y, inputs...);
  } else {
    Transform(y, size, op, inputs...);
  }
}

// The same on all threads.
template <typename Op, typename... Input>
void ParallelUpdate(float* y, size_t size, bool add, Op op, const Input*... inputs) {
  parallel_for(size, 2 * kGrain, [&](size_t begin, size_t end) {
    Update(y + begin, end - begin, add, op, inputs + begin...);
  });
}

// A sum in four registers, to hide the latency of the addition.
struct Accumulator {
  V part[4];

  HWY_INLINE Accumulator() { part[0] = part[1] = part[2] = part[3] = hn::Zero(D()); }

  HWY_INLINE float Total() const {
    const V sum = hn::Add(hn::Add(part[0], part[1]), hn::Add(part[2], part[3]));
    return hn::GetLane(hn::SumOfLanes(D(), sum));
  }
};

// The sum of op(inputs[i]...), each of which goes to y[i] as well unless that is nullptr.
template <typename Output, typename Op, typename... Input>
HWY_FLATTEN HWY_NOINLINE float TransformSum(Output y, size_t size, Op op, const Input*... inputs) {
  Accumulator sum;
  ForEachRegisterBy4(size, [&](auto at, size_t i, size_t k) {
    const V term = at.Keep(op(at.Load(inputs + i)...));
    if constexpr (!std::is_null_pointer_v<Output>) at.Store(term, y + i);
    sum.part[k] = hn::Add(sum.part[k], term);
  });
  return sum.Total();
}

// The sum of op(inputs[i]...).
template <typename Op, typename... Input>
HWY_INLINE float Sum(size_t size, Op op, const Input*... inputs) {
  return TransformSum(nullptr, size, op, inputs...);
}

// The largest element, -inf of none. NaN may be passed over.
inline HWY_FLATTEN HWY_NOINLINE float Largest(const float* x, size_t size) {
  const D d;
  const V lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  V m[4] = {lowest, lowest, lowest, lowest};
  ForEachRegisterBy4(size, [&](auto at, size_t i, size_t k) {
    m[k] = hn::Max(m[k], at.KeepOr(lowest, at.Load(x + i)));
  });
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(m[0], m[1]), hn::Max(m[2], m[3]))));
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
