// A row is read three times: for its largest element, for the sum of its powers, and for those that
// pass the least of the k found so far, which after the first few are rare.
#include "attend/kernels/top_k.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/top_k.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

// The k largest so far, in order.
struct Best {
  size_t k;
  int32_t* ids;
  float* values;

  HWY_INLINE float Least() const { return values[k - 1]; }
  HWY_INLINE void Offer(float value, size_t id) {
    if (!(value > Least())) return;
    size_t place = k - 1;
    for (; place > 0 && value > values[place - 1]; --place) {
      values[place] = values[place - 1];
      ids[place] = ids[place - 1];
    }
    values[place] = value;
    ids[place] = static_cast<int32_t>(id);
  }
};

HWY_FLATTEN HWY_NOINLINE void Select(const float* x, size_t size, Best& best) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    const V least = hn::Set(d, best.Least());
    const auto low = hn::Gt(hn::LoadU(d, x + i), least);
    const auto high = hn::Gt(hn::LoadU(d, x + i + lanes), least);
    if (hn::AllFalse(d, hn::Or(low, high))) continue;
    for (size_t j = i; j < i + 2 * lanes; ++j) best.Offer(x[j], j);
  }
  for (; i < size; ++i) best.Offer(x[i], i);
}

void TopKRow(const float* x, size_t width, Best best) {
  std::fill_n(best.ids, best.k, -1);
  std::fill_n(best.values, best.k, kNone);
  if (best.k == 0) return;
  const float largest = Largest(x, width);
  if (largest == kNone) return;
  const V offset = hn::Set(D(), largest);
  const float sum = Sum(
      width, [=](V v) { return Exp(hn::Sub(v, offset)); }, x);
  Select(x, width, best);
  const float log_sum = std::log(sum);
  for (size_t i = 0; i < best.k; ++i) best.values[i] = best.values[i] - largest - log_sum;
}

void TopK(Rows x, size_t k, int32_t* ids, float* log_probabilities) {
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      TopKRow(x.row(i), x.width, {k, ids + i * k, log_probabilities + i * k});
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(TopK);

void top_k(Rows x, size_t k, int32_t* ids, float* log_probabilities) {
  HWY_DYNAMIC_DISPATCH(TopK)(x, k, ids, log_probabilities);
}

}  // namespace attend::kernels
#endif
