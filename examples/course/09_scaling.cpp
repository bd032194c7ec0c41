// Lesson 9. Loss against size, text and depth: how much above the entropy of the text a model stays
// after a number of updates, and the power law that fits. The text is of a random chain, in which a
// letter depends on the two before it.
// With the argument "lines" it prints the points for a plot.
#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "attend/models/gpt.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

constexpr size_t kLetters = 32, kLength = 32, kTexts = 16;
constexpr uint64_t kSteps = 250;

// The chance of each letter after two others: what either of them says, added and put through a
// softmax.
struct Chain {
  std::vector<std::vector<double>> table;  // by the two letters before

  Chain() {
    const RandomStream random(16, 0);
    for (size_t pair = 0; pair < kLetters * kLetters; ++pair) {
      std::vector<double> chances(kLetters);
      double sum = 0;
      for (size_t i = 0; i < kLetters; ++i) {
        const size_t before = pair / kLetters, last = kLetters + pair % kLetters;
        const double says =
            random.normal(before * kLetters + i) + random.normal(last * kLetters + i);
        sum += chances[i] = std::exp(1.5 * says);
      }
      for (double& chance : chances) chance /= sum;
      table.push_back(std::move(chances));
    }
  }
};

// Texts, what follows each row, and the entropy of that.
struct Texts {
  Tokens inputs;
  Tensor labels;
  double entropy = 0;

  Texts(const Chain& chain, uint64_t first, size_t count) {
    std::vector<int32_t> ids, next;
    for (size_t t = 0; t < count; ++t) {
      const RandomStream random(17, first + t);
      size_t before = random.below(0, kLetters), last = random.below(1, kLetters);
      for (size_t i = 0; i < kLength; ++i) {
        const std::vector<double>& chance = chain.table[kLetters * before + last];
        double left = random.uniform(2 + i);
        size_t letter = 0;
        while (letter + 1 < kLetters && (left -= chance[letter]) > 0) ++letter;
        ids.push_back(static_cast<int32_t>(last));
        next.push_back(i == 0 ? kIgnoredTarget : static_cast<int32_t>(letter));
        if (i > 0) entropy -= std::log(chance[letter]) / static_cast<double>(count * (kLength - 1));
        before = last, last = letter;
      }
    }
    inputs = Tokens(ids, Packing::even(count, kLength));
    labels = Tensor::ids(next, {next.size()});
  }
};

struct Measured {
  size_t parameters;
  double above;  // nats a letter above the entropy of the text
};

Measured measure(const Chain& chain, size_t width, size_t layers, uint64_t texts) {
  GptConfig config;
  config.text_vocabulary = kLetters;
  config.width = width, config.layers = layers, config.heads = 4, config.dropout = 0.0f;
  config.init = 0.1f;
  config.max_length = kLength;
  Rng rng(1);
  Gpt model(config, rng);
  Optimizer optimizer(parameters(model), {.rate = 5e-3});
  for (uint64_t step = 0; step < kSteps; ++step) {
    const Texts some(chain, 1'000'000 + kTexts * step % texts, kTexts);
    backward(cross_entropy(model.logits(Batch(kTexts), some.inputs), some.labels));
    optimizer.step(1.0 - static_cast<double>(step) / kSteps);
  }
  const NoGrad no_grad;
  const Texts held_out(chain, 0, 500);
  const double loss =
      cross_entropy(model.logits(Batch(500), held_out.inputs), held_out.labels).item();
  return {parameter_count(model), loss - held_out.entropy};
}

int main(int arguments, char** argument) {
  const bool lines = arguments > 1 && argument[1] == std::string_view("lines");
  const Chain chain;
  if (!lines) fmt::print("nats above the entropy of the text\n");
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;  // of a line through the logarithms
  for (const size_t width : {4, 8, 16, 32}) {
    const Measured m = measure(chain, width, 2, 1 << 20);
    const double lx = std::log(m.parameters), ly = std::log(m.above);
    ++n, x += lx, y += ly, xx += lx * lx, xy += lx * ly;
    if (lines) fmt::print("size\t{:.3f}\t{:.3f}\n", std::log10(m.parameters), std::log10(m.above));
    if (!lines) fmt::print("  {:2} wide {:6} parameters  {:.2f}\n", width, m.parameters, m.above);
  }
  const double power = (n * xy - x * y) / (n * xx - x * x);
  if (lines) return 0;
  fmt::print("  fitted: {:.1f} x parameters ^ {:.2f}\n", std::exp((y - power * x) / n), power);
  for (const uint64_t texts : {64, 256, 1024}) {
    fmt::print("  {:4} texts {:15}  {:.2f}\n", texts, "", measure(chain, 32, 2, texts).above);
  }
  for (const size_t layers : {1, 4}) {
    fmt::print("  {} {:24}  {:.2f}\n", layers, layers == 1 ? "layer" : "layers",
               measure(chain, 32, layers, 1 << 20).above);
  }
}

// Prints, numbers within 5 %:
// nats above the entropy of the text
//    4 wide    752 parameters  1.25
//    8 wide   2272 parameters  0.95
//   16 wide   7616 parameters  0.72
//   32 wide  27520 parameters  0.58
//   fitted: 5.0 x parameters ^ -0.21
//     64 texts                  3.52
//    256 texts                  1.08
//   1024 texts                  0.59
//   1 layer                     0.59
//   4 layers                    0.57
