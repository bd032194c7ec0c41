// Lesson 2: what a score costs. On paper, an additive score and a dot product of width d both take
// time in proportion to d for each pair. Measured, on one thread: 128 queries at 128 keys.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "attend/attention/attention.h"
#include "attend/base/parallel.h"
#include "attend/nn/init.h"
#include "attend/tensor/tape.h"

using namespace attend;

// The least time of a call, in microseconds.
template <typename Call>
double microseconds(const Call& call) {
  double least = 1e9;
  for (int i = 0; i < 30; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
  }
  return least;
}

int main() {
  const ThreadCountScope one_thread(1);
  const NoGrad no_grad;
  fmt::print("width  dot us  additive us  ratio\n");
  for (const size_t width : {16, 32, 64, 128, 256, 512}) {
    Rng rng(1);
    const Tensor q = parameter({128, width}, Init::kNormal, rng);
    const Tensor k = parameter({128, width}, Init::kNormal, rng);
    const Tensor v = parameter({128, 16}, Init::kNormal, rng);
    // Queries and keys are projected already, as a decoder keeps them: what is left is each pair's.
    const Tensor vector = parameter({width}, Init::kUniform, rng);
    const double dot = microseconds([&] { attention(q, k, v); });
    const double additive = microseconds([&] {
      attention(q, k, v, {.score = Score::kAdditive, .score_weights = {.vector = vector}});
    });
    fmt::print("{:5}  {:>6}  {:>11}  {:>5}\n", width, fmt::format("~{:.0f}", dot),
               fmt::format("~{:.0f}", additive), fmt::format("~{:.1f}", additive / dot));
  }
}

// Prints, numbers within 5 %:
// width  dot us  additive us  ratio
//    16     ~29         ~214   ~7.5
//    32     ~34         ~290   ~8.6
//    64     ~44         ~454  ~10.4
//   128     ~64         ~788  ~12.3
//   256    ~105        ~1445  ~13.8
//   512    ~189        ~2775  ~14.7
