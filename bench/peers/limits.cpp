#include "bench/peers/limits.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "attend/kernels/machine.h"

namespace attend::peers {
namespace {

template <typename F>
double seconds(F&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

double fma_peak() {
  double work = 0;
  const double time = seconds([&] { work = kernels::fma_work(1'000'000); });
  return work / time;
}

double bandwidth() {
  constexpr size_t kSize = 16 << 20;  // 64 MB: more than the caches hold
  static std::vector<float> x(kSize, 1.0f), y(kSize, 1.0f);
  const double read = seconds([] { kernels::read_work(x.data(), kSize); });
  const double update = seconds([] { kernels::update_work(x.data(), y.data(), kSize); });
  return kSize * sizeof(float) * std::max(1.0 / read, 3.0 / update);
}

}  // namespace attend::peers
