// Strings of letters to be rewritten, for the programs of lessons 1, 2 and 8: pairs, a training
// loop, and the share of letters that a model gets right.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "attend/decode/search.h"
#include "attend/nn/visit.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using Letters = std::vector<int32_t>;

inline constexpr attend::SpecialTokens kSpecial;  // ids 0 to 2: unknown, start, end
inline constexpr int32_t kFirstLetter = 3;

// What is to be written for a source.
struct Task {
  size_t alphabet = 16;
  std::function<Letters(const Letters&)> answer;

  size_t vocabulary() const { return kFirstLetter + alphabet; }
};

inline Letters copied(const Letters& source) { return source; }
inline Letters reversed(const Letters& source) { return {source.rbegin(), source.rend()}; }

// Sources of lengths in [shortest, longest] with their answers, always the same for a number.
struct Pairs {
  attend::Tokens sources, targets;  // without starts and ends

  Pairs(const Task& task, uint64_t number, size_t count, size_t shortest, size_t longest) {
    const attend::RandomStream random(7, number);
    attend::TokenLines read, written;
    for (uint64_t i = 0, place = 0; i < count; ++i) {
      Letters source(shortest + random.below(place++, longest - shortest + 1));
      for (int32_t& letter : source) {
        letter = kFirstLetter + static_cast<int32_t>(random.below(place++, task.alphabet));
      }
      read.add(source);
      written.add(task.answer(source));
    }
    sources = read.tokens();
    targets = written.tokens();
  }

  attend::Batch inputs() const { return {"source", framed(sources, {.end = true}, kSpecial)}; }
};

struct Training {
  uint64_t steps = 300;
  size_t batch = 32;
  size_t shortest = 2, longest = 12;
  double rate = 5e-3;
};

// Teacher forcing with Adam, the rate falling to zero; new pairs in every step.
template <typename Model>
void train(Model& model, const Task& task, const Training& t) {
  attend::Optimizer optimizer(attend::parameters(model), {.rate = t.rate, .clip_norm = 1.0});
  for (uint64_t step = 0; step < t.steps; ++step) {
    const Pairs pairs(task, 1 + step, t.batch, t.shortest, t.longest);
    const auto rows = teacher_rows(pairs.targets, kSpecial);
    backward(cross_entropy(model.logits(pairs.inputs(), rows.inputs), rows.labels));
    optimizer.step(1.0 - static_cast<double>(step) / static_cast<double>(t.steps));
  }
}

// Percent of the letters of new strings of one length that a model writes where they belong.
inline double letters_right(const attend::Generator& model, const Task& task, size_t length,
                            const attend::SearchConfig& config = {.beam = 1}) {
  const Pairs pairs(task, 0, 100, length, length);
  const auto written = search(model, pairs.inputs(), config, {.special = kSpecial});
  size_t right = 0;
  for (size_t i = 0; i < written.size(); ++i) {
    const Letters& letters = written[i].front().tokens;
    const auto wanted = pairs.targets.sequence(i);
    for (size_t j = 0; j < std::min(wanted.size(), letters.size()); ++j) {
      right += wanted[j] == letters[j] ? 1 : 0;
    }
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(pairs.targets.packing.rows());
}
