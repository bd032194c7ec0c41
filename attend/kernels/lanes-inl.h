// Loops over floats in registers, with a remainder that reads and writes nothing past the end;
// included once for each SIMD target.
#if defined(ATTEND_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_LANES_INL_H_
#undef ATTEND_KERNELS_LANES_INL_H_
#else
#define ATTEND_KERNELS_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// A full register.
struct AllLanes {
  HWY_INLINE V Load(const float* p) const { return hn::LoadU(D(), p); }
  HWY_INLINE void Store(V v, float* p) const { hn::StoreU(v, D(), p); }
};

// The first `count` lanes of a register; the others are zero.
struct FirstLanes {
  size_t count;

  HWY_INLINE V Load(const float* p) const { return LoadPart(p, count); }
  HWY_INLINE void Store(V v, float* p) const { StorePart(v, p, count); }
};

// Calls body(i, lanes) for all registers of [0, size): `lanes` loads and stores what there is of
// the one that starts at i.
template <typename Body>
HWY_INLINE void ForLanes(size_t size, const Body& body) {
  const size_t step = hn::Lanes(D());
  size_t i = 0;
  for (; i + step <= size; i += step) body(i, AllLanes());
  if (i < size) body(i, FirstLanes{size - i});
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
