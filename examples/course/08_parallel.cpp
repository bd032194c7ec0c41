// Lesson 8: reading is parallel, writing is not. A Transformer encodes n tokens in one pass and, in
// training, reads the n tokens of a target in one; to write them it needs n passes.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "attend/base/parallel.h"
#include "attend/models/transformer.h"
#include "letters.h"

using namespace attend;

// The least time of twenty calls, in milliseconds.
template <typename Call>
double milliseconds(const Call& call) {
  double least = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count());
  }
  return least;
}

int main() {
  const Task task{.alphabet = 32, .answer = reversed};
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = task.vocabulary();
  config.width = 128, config.heads = 4, config.feed_forward = 256;
  config.encoder_layers = config.decoder_layers = 2;
  config.dropout = 0.0f;
  Rng rng(1);
  const Transformer model(config, rng);
  const ThreadCountScope one_thread(1);
  const NoGrad no_grad;

  fmt::print("   n  steps  encode ms  target at once ms  token by token ms  ratio  same numbers\n");
  for (const size_t n : {16, 64, 256}) {
    const Pairs pairs(task, 0, 1, n, n);
    const Batch inputs = pairs.inputs();
    const Tokens target = pairs.targets;
    const double encode = milliseconds([&] { model.encode(inputs); });
    Tensor at_once;
    const double force = milliseconds([&] { at_once = model.logits(inputs, target); }) - encode;
    double difference = 0, write = 1e9;
    size_t passes = 0;
    for (int i = 0; i < 20; ++i) {
      const auto state = model.start(inputs);
      const auto start = std::chrono::steady_clock::now();
      for (passes = 0; passes < n; ++passes) {
        const int32_t token = target.ids.indices()[passes];
        const Tensor row = model.step(*state, std::span(&token, 1));
        for (size_t j = 0; j < row.size(); ++j) {
          difference = std::max<double>(
              difference, std::abs(row.data()[j] - at_once.data()[passes * row.size() + j]));
        }
      }
      const std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - start;
      write = std::min(write, time.count());
    }
    fmt::print("{:4}  {:5}  {:>9}  {:>17}  {:>17}  {:>5}  {}\n", n, passes,
               fmt::format("~{:.2f}", encode), fmt::format("~{:.2f}", force),
               fmt::format("~{:.2f}", write), fmt::format("~{:.1f}", write / force),
               difference < 1e-4 ? "yes" : "no");
  }
}

// Prints, numbers within 5 %:
//    n  steps  encode ms  target at once ms  token by token ms  ratio  same numbers
//   16     16      ~0.13              ~0.21              ~0.80   ~3.8  yes
//   64     64      ~0.46              ~0.74              ~3.56   ~4.8  yes
//  256    256      ~2.36              ~3.76             ~17.94   ~4.8  yes
