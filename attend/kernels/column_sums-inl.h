// Sums over rows into a few columns' worth of totals, on all threads: each chunk of rows has totals
// of its own, which are joined in order, so that the result does not depend on the number of
// threads.
#if defined(ATTEND_KERNELS_COLUMN_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_COLUMN_SUMS_INL_H_
#undef ATTEND_KERNELS_COLUMN_SUMS_INL_H_
#else
#define ATTEND_KERNELS_COLUMN_SUMS_INL_H_
#endif

#include <hwy/aligned_allocator.h>

#include <algorithm>

#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// Calls body(begin, end, totals) for chunks of `count` rows of `width`; body adds what its rows
// give to `size` totals, zero at first. Returns the joined totals, which live until the thread's
// next call with the same kind of body. The buffer is kept from call to call.
template <typename Body>
float* SumOverRows(size_t count, size_t width, size_t size, const Body& body) {
  thread_local hwy::AlignedFreeUniquePtr<float[]> buffer;
  thread_local size_t capacity = 0;
  const size_t grain =
      std::max<size_t>(4 * RowGrain(width), 16);  // rows; few chunks, little to join
  const size_t chunks = std::max<size_t>(chunk_count(count, grain), 1);
  if (chunks * size > capacity) {
    capacity = chunks * size;
    buffer = hwy::AllocateAligned<float>(capacity);
  }
  float* totals = buffer.get();
  parallel_chunks(chunks, [&](size_t chunk) {
    float* own = totals + chunk * size;
    std::fill_n(own, size, 0.0f);
    body(chunk * grain, std::min((chunk + 1) * grain, count), own);
  });
  const auto sum = [](V a, V b) { return hn::Add(a, b); };
  for (size_t chunk = 1; chunk < chunks; ++chunk) {
    Transform(totals, size, sum, totals, totals + chunk * size);
  }
  return totals;
}

// to[j] = totals[j], or += where `add`; nothing where `to` is null.
HWY_INLINE void Deliver(const float* totals, float* to, size_t size, bool add) {
  if (to != nullptr)
    Update(
        to, size, add, [](V v) { return v; }, totals);
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
