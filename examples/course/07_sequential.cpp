// Lesson 7. A recurrent layer takes one step after the other, attention takes all rows at once: the
// time of each for one text, by its length, on one thread and on two. And for many texts at once,
// which is what keeps the cores busy in training.
#include <fmt/format.h>

#include <chrono>
#include <functional>

#include "attend/attention/multi_head.h"
#include "attend/base/parallel.h"
#include "attend/nn/recurrent.h"
#include "attend/tensor/tape.h"

using namespace attend;

constexpr size_t kWidth = 128;

double milliseconds(int threads, const std::function<void()>& f) {
  const ThreadCountScope scope(threads);
  using Clock = std::chrono::steady_clock;
  double best = 1e9, all = 0;
  for (int call = 0; call < 3 || (all < 60 && call < 30); ++call) {
    const auto start = Clock::now();
    f();
    const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
    best = std::min(best, taken.count());
    all += taken.count();
  }
  return best;
}

int main() {
  const NoGrad no_grad;
  Rng rng(1);
  const Recurrent gru({.cell = Cell::kGru, .input = kWidth, .hidden = kWidth}, rng);
  const MultiHeadAttention attention({.width = kWidth, .heads = 4}, rng);
  fmt::print("                    a GRU, in ms                      attention, in ms\n");
  fmt::print("texts    rows    one after the other     threads 1, 2    at once     threads 1, 2\n");
  for (const auto& [texts, length] :
       {std::pair<size_t, size_t>(1, 32), {1, 128}, {1, 512}, {1, 2048}, {32, 64}}) {
    const Packing packing = Packing::even(texts, length);
    Tensor x = Tensor::empty({texts * length, kWidth});
    fill_normal(x.span(), RandomStream(12, 0), 0.0f, 1.0f);
    fmt::print("{:5} {:7} {:13} steps", texts, length, length);
    for (const int threads : {1, 2}) {
      fmt::print("     ~{:.2f}", milliseconds(threads, [&] { gru(x, packing); }));
    }
    fmt::print("    1 step");
    for (const int threads : {1, 2}) {
      fmt::print("     ~{:.2f}", milliseconds(threads, [&] { attention(x, packing); }));
    }
    fmt::print("\n");
  }
}

// Prints:
//                     a GRU, in ms                      attention, in ms
// texts    rows    one after the other     threads 1, 2    at once     threads 1, 2
//     1      32            32 steps     ~0.12     ~0.12    1 step     ~0.06     ~0.06
//     1     128           128 steps     ~0.50     ~0.51    1 step     ~0.27     ~0.28
//     1     512           512 steps     ~2.02     ~2.26    1 step     ~2.32     ~47.49
//     1    2048          2048 steps     ~174.51     ~150.05    1 step     ~558.45     ~300.53
//    32      64            64 steps     ~68.55     ~40.31    1 step     ~57.67     ~63.98
