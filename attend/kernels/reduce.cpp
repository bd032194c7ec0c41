// Sums, and whether values are finite.
#include "attend/kernels/reduce.h"

#include <atomic>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/reduce.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/column_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

using DD = hn::ScalableTag<double>;
using VD = hn::Vec<DD>;

HWY_FLATTEN HWY_NOINLINE double SumInDouble(const float* x, size_t size) {
  const DD d;
  const hn::Rebind<float, DD> half;
  const size_t lanes = hn::Lanes(d);
  const auto term = [&](size_t at) { return hn::PromoteTo(d, hn::LoadU(half, x + at)); };
  VD s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  size_t i = 0;
  for (; i + 4 * lanes <= size; i += 4 * lanes) {
    s0 = hn::Add(s0, term(i));
    s1 = hn::Add(s1, term(i + lanes));
    s2 = hn::Add(s2, term(i + 2 * lanes));
    s3 = hn::Add(s3, term(i + 3 * lanes));
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < size; ++i) sum += double{x[i]};
  return sum;
}

double SumAll(const float* x, size_t size) {
  if (size <= kGrain) return SumInDouble(x, size);
  thread_local std::vector<double> buffer;
  buffer.resize(chunk_count(size, kGrain));
  double* partial = buffer.data();
  parallel_for(size, kGrain, [&](size_t begin, size_t end) {
    partial[begin / kGrain] = SumInDouble(x + begin, end - begin);
  });
  double sum = 0.0;
  for (const double part : buffer) sum += part;
  return sum;
}

void SumRows(Rows x, float* total, bool add) {
  const float* sums = SumOverRows(x.count, x.width, x.width, [&](size_t i, size_t end, float* own) {
    // Four rows at a time: the sums are loaded and stored a quarter as often.
    for (; i + 4 <= end; i += 4) {
      const auto op = [](V sum, V a, V b, V c, V d) {
        return hn::Add(sum, hn::Add(hn::Add(a, b), hn::Add(c, d)));
      };
      Transform(own, x.width, op, own, x.row(i), x.row(i + 1), x.row(i + 2), x.row(i + 3));
    }
    for (; i < end; ++i) {
      Transform(
          own, x.width, [](V sum, V a) { return hn::Add(sum, a); }, own, x.row(i));
    }
  });
  Deliver(sums, total, x.width, add);
}

void MultiplySumRows(Rows x, Rows y, float* total, bool add) {
  const float* sums = SumOverRows(x.count, x.width, x.width, [&](size_t i, size_t end, float* own) {
    const auto op = [](V sum, V a, V b) { return hn::MulAdd(a, b, sum); };
    for (; i < end; ++i) Transform(own, x.width, op, own, x.row(i), y.row(i));
  });
  Deliver(sums, total, x.width, add);
}

void SumColumns(Rows x, float* total, bool add) {
  parallel_for(x.count, RowGrain(x.width), [&](size_t i, size_t end) {
    for (; i < end; ++i) {
      total[i] = Sum(
                     x.width, [](V v) { return v; }, x.row(i)) +
                 (add ? total[i] : 0.0f);
    }
  });
}

void DotRows(Rows x, Rows y, float* total, bool add) {
  parallel_for(x.count, RowGrain(x.width), [&](size_t i, size_t end) {
    const auto op = [](V a, V b) { return hn::Mul(a, b); };
    for (; i < end; ++i) {
      total[i] = Sum(x.width, op, x.row(i), y.row(i)) + (add ? total[i] : 0.0f);
    }
  });
}

// NaN and infinity times 0 are NaN.
bool AllFinite(Rows x) {
  std::atomic<bool> finite = true;
  parallel_for(x.count, RowGrain(x.width), [&](size_t i, size_t end) {
    const auto zero_times = [](V v) { return hn::Mul(v, hn::Zero(D())); };
    for (; i < end && finite; ++i) {
      if (Sum(x.width, zero_times, x.row(i)) != 0.0f) finite = false;
    }
  });
  return finite;
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(SumAll);
HWY_EXPORT(SumRows);
HWY_EXPORT(MultiplySumRows);
HWY_EXPORT(SumColumns);
HWY_EXPORT(DotRows);
HWY_EXPORT(AllFinite);

double sum(const float* x, size_t size) { return HWY_DYNAMIC_DISPATCH(SumAll)(x, size); }

void sum_rows(Rows x, float* total, bool add) { HWY_DYNAMIC_DISPATCH(SumRows)(x, total, add); }

void multiply_sum_rows(Rows x, Rows y, float* total, bool add) {
  HWY_DYNAMIC_DISPATCH(MultiplySumRows)(x, y, total, add);
}

void sum_columns(Rows x, float* total, bool add) {
  HWY_DYNAMIC_DISPATCH(SumColumns)(x, total, add);
}

void dot_rows(Rows x, Rows y, float* total, bool add) {
  HWY_DYNAMIC_DISPATCH(DotRows)(x, y, total, add);
}

bool all_finite(Rows x) { return HWY_DYNAMIC_DISPATCH(AllFinite)(x); }

}  // namespace attend::kernels
#endif
