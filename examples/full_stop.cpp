// A full stop is likelier late in a sentence. A model without positions cannot know how late it is:
// the mean of any number of the same words is the same. But one word that is there once is enough,
// such as a start: its share of the mean is 1 / n. (So causal models do without positions.)
#include <fmt/format.h>

#include <cmath>

#include "attend/models/gpt.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

constexpr int32_t kStart = 1, kWord = 3, kStop = 4;
constexpr size_t kLongest = 7;
constexpr int kSteps = 1000;

// The chance of a full stop after n words: sentences of one to seven words are as likely as each
// other.
double chance(size_t words) { return 1.0 / static_cast<double>(kLongest + 1 - words); }

// Words, and what follows each.
TeacherRows sentences(bool with_start) {
  TokenLines inputs;
  std::vector<int32_t> labels;
  for (size_t words = 1; words <= kLongest; ++words) {
    std::vector<int32_t> line(words, kWord);
    if (with_start) line.insert(line.begin(), kStart), labels.push_back(kWord);
    inputs.add(line);
    labels.insert(labels.end(), words - 1, kWord);
    labels.push_back(kStop);
  }
  return {inputs.tokens(), Tensor::ids(labels, {labels.size()})};
}

void measure(const char* name, PositionScheme positions, bool with_start) {
  GptConfig config;
  config.text_vocabulary = 5;
  config.width = 32, config.layers = 2, config.heads = 2, config.dropout = 0.0f;
  config.init = 0.2f;
  config.positions = positions;
  config.max_length = kLongest + 1;
  Rng rng(1);
  Gpt model(config, rng);
  const TeacherRows rows = sentences(with_start);
  const Batch inputs(rows.inputs.count());
  Optimizer optimizer(parameters(model), {.rate = 3e-3});
  for (int step = 0; step < kSteps; ++step) {
    backward(cross_entropy(model.logits(inputs, rows.inputs), rows.labels));
    optimizer.step(1.0 - static_cast<double>(step) / kSteps);
  }
  const NoGrad no_grad;
  const Tensor logits = model.logits(inputs, rows.inputs);
  fmt::print("{:<28}", name);
  const size_t first = rows.inputs.packing.end(kLongest - 1) - kLongest;
  for (size_t words = 1; words <= kLongest; ++words) {
    const auto row = logits.slice_rows(first + words - 1, 1).span();
    double sum = 0;
    for (const float x : row) sum += std::exp(double{x});
    fmt::print(" {:4.0f}", 100 * std::exp(double{row[kStop]}) / sum);
  }
  fmt::print("\n");
}

int main() {
  fmt::print("{:<28}", "% of a full stop after");
  for (size_t words = 1; words <= kLongest; ++words) fmt::print(" {:4}", words);
  fmt::print("\n{:<28}", "in the text");
  for (size_t words = 1; words <= kLongest; ++words) fmt::print(" {:4.0f}", 100 * chance(words));
  fmt::print("\n");
  measure("positions", PositionScheme::kLearned, false);
  measure("no positions", PositionScheme::kNone, false);
  measure("no positions, but a start", PositionScheme::kNone, true);
}

// Prints:
// % of a full stop after          1    2    3    4    5    6    7
// in the text                    14   17   20   25   33   50  100
// positions                      14   17   20   25   33   50  100
// no positions                   25   25   25   25   25   25   25
// no positions, but a start      14   17   20   25   33   50  100
