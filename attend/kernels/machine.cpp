#include "attend/kernels/machine.h"

#include <atomic>
#include <cstdint>

#include "attend/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/machine.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

const char* Target() { return hwy::TargetName(HWY_TARGET); }

inline constexpr size_t kChains =
    12;  // in flight: enough for latency times issue, and for 16 registers

double FmaFlops(size_t rounds) {
  return 2.0 * kChains * static_cast<double>(hn::Lanes(D()) * rounds);
}

// Twelve independent chains x = a x + b. The result is returned so that they are not optimised
// away.
HWY_NOINLINE float FmaLoop(size_t rounds, float start) {
  const D d;
  const V a = hn::Set(d, 0.5f), b = hn::Set(d, start);
  const auto chain = [&](float k) HWY_ATTR { return hn::Set(d, start + k); };
  V x0 = chain(0), x1 = chain(1), x2 = chain(2), x3 = chain(3), x4 = chain(4), x5 = chain(5);
  V x6 = chain(6), x7 = chain(7), x8 = chain(8), x9 = chain(9), x10 = chain(10), x11 = chain(11);
  for (size_t round = 0; round < rounds; ++round) {
    x0 = hn::MulAdd(x0, a, b);
    x1 = hn::MulAdd(x1, a, b);
    x2 = hn::MulAdd(x2, a, b);
    x3 = hn::MulAdd(x3, a, b);
    x4 = hn::MulAdd(x4, a, b);
    x5 = hn::MulAdd(x5, a, b);
    x6 = hn::MulAdd(x6, a, b);
    x7 = hn::MulAdd(x7, a, b);
    x8 = hn::MulAdd(x8, a, b);
    x9 = hn::MulAdd(x9, a, b);
    x10 = hn::MulAdd(x10, a, b);
    x11 = hn::MulAdd(x11, a, b);
  }
  const V low = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(x4, x5));
  const V high = hn::Add(hn::Add(hn::Add(x6, x7), hn::Add(x8, x9)), hn::Add(x10, x11));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high)));
}

HWY_NOINLINE float ReadSpan(const float* x, size_t size) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  size_t i = 0;
  for (; i + 4 * lanes <= size; i += 4 * lanes) {
    s0 = hn::Add(s0, hn::LoadU(d, x + i));
    s1 = hn::Add(s1, hn::LoadU(d, x + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, x + i + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, x + i + 3 * lanes));
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < size; ++i) sum += x[i];
  return sum;
}

HWY_NOINLINE void UpdateSpan(float* x, const float* y, size_t size) {
  const V half = hn::Set(D(), 0.5f);
  ForLanes(size, [&](size_t i, auto lanes) HWY_ATTR {
    lanes.Store(hn::MulAdd(half, lanes.Load(x + i), lanes.Load(y + i)), x + i);
  });
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {
namespace {

HWY_EXPORT(Target);
HWY_EXPORT(FmaFlops);
HWY_EXPORT(FmaLoop);
HWY_EXPORT(ReadSpan);
HWY_EXPORT(UpdateSpan);

constexpr size_t kGrain = 1 << 18;

}  // namespace

const char* simd_target() { return HWY_DYNAMIC_DISPATCH(Target)(); }

std::vector<std::string_view> compiled_simd_targets() {
  std::vector<std::string_view> names;
  for (int64_t rest = HWY_TARGETS; rest != 0; rest &= rest - 1) {
    names.emplace_back(hwy::TargetName(rest & -rest));
  }
  return names;
}

double fma_work(size_t rounds) {
  const auto threads = static_cast<size_t>(thread_count());
  std::atomic<float> sink{0.0f};
  parallel_chunks(threads, [&](size_t chunk) {
    sink = HWY_DYNAMIC_DISPATCH(FmaLoop)(rounds, static_cast<float>(chunk));
  });
  return HWY_DYNAMIC_DISPATCH(FmaFlops)(rounds) * static_cast<double>(threads);
}

double read_work(const float* x, size_t size) {
  std::vector<double> sums(chunk_count(size, kGrain));
  parallel_for(size, kGrain, [&](size_t begin, size_t end) {
    sums[begin / kGrain] = HWY_DYNAMIC_DISPATCH(ReadSpan)(x + begin, end - begin);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

void update_work(float* x, const float* y, size_t size) {
  parallel_for(size, kGrain, [&](size_t begin, size_t end) {
    HWY_DYNAMIC_DISPATCH(UpdateSpan)(x + begin, y + begin, end - begin);
  });
}

}  // namespace attend::kernels
#endif
