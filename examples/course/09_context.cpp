// Lesson 9. A language model says what comes next, from what came before. Small stories, whose
// entropy is known, show what more context is worth: row c of a causal model has c tokens of it.
#include <fmt/format.h>

#include <cmath>

#include "attend/models/gpt.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

// "Anna eats bread . Anna reads books . Anna ...": a story is about one person. What is done is
// anybody's guess, what it is done to follows from it in four cases out of five, and every fourth
// sentence ends with an exclamation mark.
constexpr int32_t kNames = 8, kVerbs = 8, kThings = 8;
constexpr int32_t kVerb = kNames, kThing = kVerb + kVerbs, kStop = kThing + kThings,
                  kMark = kStop + 1;
constexpr size_t kVocabulary = kMark + 1, kLength = 32, kTexts = 32;
constexpr uint64_t kSteps = 500;
constexpr double kUsual = 0.8;

// A window of a story, from anywhere in it, and the token after it.
std::vector<int32_t> window(RandomStream random) {
  const auto name = static_cast<int32_t>(random.below(0, kNames));
  const uint64_t first = random.below(1, 16);
  std::vector<int32_t> ids;
  int32_t verb = 0;
  for (uint64_t i = 0; i < first + kLength + 1; ++i) {
    int32_t id = name;
    if (i % 4 == 1) id = verb = kVerb + static_cast<int32_t>(random.below(10 + 2 * i, kVerbs));
    if (i % 4 == 2) {
      const bool usual = random.bernoulli(10 + 2 * i, kUsual);
      const auto other = static_cast<int32_t>(random.below(11 + 2 * i, kThings));
      id = kThing + (usual ? verb - kVerb : other);
    }
    if (i % 4 == 3) id = i % 16 == 15 ? kMark : kStop;
    if (i >= first) ids.push_back(id);
  }
  return ids;
}

struct Windows {
  Tokens inputs;
  Tensor labels;

  Windows(uint64_t number, size_t count) {
    std::vector<int32_t> read, next;
    for (size_t i = 0; i < count; ++i) {
      const std::vector<int32_t> ids = window(RandomStream(15, 10'000 * number + i));
      read.insert(read.end(), ids.begin(), ids.end() - 1);
      next.insert(next.end(), ids.begin() + 1, ids.end());
    }
    inputs = Tokens(read, Packing::even(count, kLength));
    labels = Tensor::ids(next, {next.size()});
  }
};

int main() {
  GptConfig config;
  config.text_vocabulary = kVocabulary;
  config.width = 32, config.layers = 2, config.heads = 4, config.dropout = 0.0f;
  config.init = 0.1f;
  config.max_length = kLength;
  Rng rng(1);
  Gpt model(config, rng);
  Optimizer optimizer(parameters(model), {.rate = 5e-3});
  for (uint64_t step = 0; step < kSteps; ++step) {
    const Windows windows(1 + step, kTexts);
    backward(cross_entropy(model.logits(Batch(kTexts), windows.inputs), windows.labels));
    optimizer.step(1.0 - static_cast<double>(step) / kSteps);
  }

  const NoGrad no_grad;
  constexpr size_t kCount = 2000;
  const Windows windows(0, kCount);
  const Tensor logits = model.logits(Batch(kCount), windows.inputs);
  const Tensor losses = cross_entropy(logits, windows.labels, {.reduction = Reduction::kNone});
  fmt::print("context   nats a token   the name: chance of the right one\n");
  for (const size_t context : {1, 2, 3, 4, 8, 16, 17, 32}) {
    double all = 0, name = 0, names = 0;
    for (size_t i = 0; i < kCount; ++i) {
      const size_t row = i * kLength + context - 1;
      all += losses.data()[row] / kCount;
      if (windows.labels.indices()[row] >= kNames) continue;
      name += std::exp(-losses.data()[row]), ++names;
    }
    fmt::print("{:7} {:14.2f} {:20.0f} %\n", context, all, 100 * name / names);
  }
  const double usual = kUsual + (1 - kUsual) / kThings, other = (1 - kUsual) / kThings;
  const double thing = -usual * std::log(usual) - (kThings - 1) * other * std::log(other);
  fmt::print("nobody can do better than {:.2f}\n", (std::log(double{kVerbs}) + thing) / 4);
}

// Prints, numbers within 5 %:
// context   nats a token   the name: chance of the right one
//       1           1.40                   13 %
//       2           1.39                   12 %
//       3           1.40                   13 %
//       4           0.86                  100 %
//       8           0.83                  100 %
//      16           0.73                  100 %
//      17           0.74                  100 %
//      32           0.72                  100 %
// nobody can do better than 0.72
