#include "bench/peers/limits.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "attend/kernels/machine.h"
#include "attend/tensor/tensor.h"

namespace attend::peers {
namespace {

constexpr int kTries = 3;  // anything else that runs only slows a try down

constexpr size_t kSize = 32 << 20;  // floats: 128 MB, more than any cache holds

const Tensor& memory_x() {
  static const Tensor x = Tensor::full({kSize}, 1.0f);
  return x;
}
const Tensor& memory_y() {
  static const Tensor y = Tensor::full({kSize}, 1.0f);
  return y;
}

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

double read_bandwidth() {
  const double time = best_seconds([] { kernels::read_work(memory_x().data(), kSize); });
  return kSize * sizeof(float) / time;
}

double bandwidth() {
  const double time =
      best_seconds([] { kernels::update_work(memory_x().data(), memory_y().data(), kSize); });
  return std::max(read_bandwidth(), 3 * kSize * sizeof(float) / time);
}

}  // namespace attend::peers
