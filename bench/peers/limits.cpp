#include "bench/peers/limits.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "attend/kernels/machine.h"
#include "attend/tensor/tensor.h"

namespace attend::peers {
namespace {

constexpr int kTries = 3;  // anything else that runs only slows a try down

template <typename F>
double best_seconds(F&& body) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

}  // namespace

double fma_peak() {
  double work = 0;
  const double time = best_seconds([&] { work = kernels::fma_work(500'000); });
  return work / time;
}

double bandwidth() {
  constexpr size_t kSize = 16 << 20;  // 64 MB: more than the caches hold
  static const Tensor x = Tensor::full({kSize}, 1.0f), y = Tensor::full({kSize}, 1.0f);
  const double read = best_seconds([] { kernels::read_work(x.data(), kSize); });
  const double update = best_seconds([] { kernels::update_work(x.data(), y.data(), kSize); });
  return kSize * sizeof(float) * std::max(1.0 / read, 3.0 / update);
}

}  // namespace attend::peers
