// Machine reading (Cheng et al., 2016): an LSTM that keeps the states of all words and looks at
// them, beside one that has a single state. Both read letters, are asked for the one after a mark,
// and can tell; the first shows how: steps after the mark look at that letter.
#include <fmt/format.h>

#include <algorithm>

#include "attend/attention/recorder.h"
#include "attend/models/lstm.h"
#include "attend/models/lstmn.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

constexpr int32_t kMark = 3, kAsk = 4, kLetter = 5, kLetters = 16;
constexpr size_t kVocabulary = kLetter + kLetters, kLength = 14;

// "dk!fmgp...?"
std::vector<int32_t> text(uint64_t number) {
  const RandomStream random(1, number);
  std::vector<int32_t> ids(kLength);
  for (size_t i = 0; i < kLength; ++i) {
    ids[i] = kLetter + static_cast<int32_t>(random.below(i, kLetters));
  }
  ids[random.below(kLength, kLength - 3)] = kMark;
  ids.back() = kAsk;
  return ids;
}

// The letter after the mark is the answer to the last item of each text.
TeacherRows texts(uint64_t first, size_t count) {
  TokenLines lines;
  std::vector<int32_t> labels(count * kLength, kIgnoredTarget);
  for (size_t i = 0; i < count; ++i) {
    const std::vector<int32_t> ids = text(first + i);
    lines.add(ids);
    labels[(i + 1) * kLength - 1] = *(std::ranges::find(ids, kMark) + 1);
  }
  return {lines.tokens(), Tensor::ids(labels, {labels.size()})};
}

void train(Model& model) {
  Optimizer optimizer(parameters(model), {.rate = 5e-3});
  for (uint64_t step = 0; step < 250; ++step) {
    const TeacherRows rows = texts(1000 + 64 * step, 64);
    backward(cross_entropy(model.generator()->logits(Batch(64), rows.inputs), rows.labels));
    optimizer.step();
  }
}

// The share of 300 new texts that are answered right, in percent.
size_t right(const Model& model) {
  const NoGrad no_grad;
  const TeacherRows rows = texts(0, 300);
  const Tensor logits = model.generator()->logits(Batch(300), rows.inputs);
  size_t count = 0;
  for (size_t row = kLength - 1; row < logits.rows(); row += kLength) {
    const auto all = logits.slice_rows(row, 1).span();
    count += std::ranges::max_element(all) - all.begin() == rows.labels.index_span()[row] ? 1 : 0;
  }
  return count / 3;
}

template <typename Config>
Config small() {
  Config c;
  c.text_vocabulary = kVocabulary;
  c.embedding = c.hidden = 32, c.layers = 1;
  c.embedding_dropout = c.layer_dropout = c.output_dropout = 0.0f;
  return c;
}

int main() {
  Rng rng(1);
  LstmLanguageModel lstm(small<LstmConfig>(), rng);
  LstmnLanguageModel lstmn(small<LstmnModelConfig>(), rng);
  train(lstm), train(lstmn);
  fmt::print("right answers: lstm {} %, lstmn {} %\n", right(lstm), right(lstmn));
  const NoGrad no_grad;
  Recorder recorder;
  const std::vector<int32_t> ids = text(3);
  const auto mark = static_cast<size_t>(std::ranges::find(ids, kMark) - ids.begin());
  lstmn.logits(Batch(1), one_sequence(ids));
  const auto letter = [&](size_t i) { return "<s>!?abcdefghijklmnop"[ids[i]]; };
  for (size_t i = 0; i < ids.size(); ++i) fmt::print(" {}", letter(i));
  fmt::print("\n{:{}}", "", 2 * (mark + 2));
  for (size_t i = mark + 2; i < ids.size(); ++i) {
    const auto row = recorder.heads.front().weights.slice_rows(i, 1).span();
    fmt::print(" {}", letter(static_cast<size_t>(std::ranges::max_element(row) - row.begin())));
  }
  fmt::print("\n");
}

// Prints:
// right answers: lstm 100 %, lstmn 100 %
//  n l f ! b c n c e g l d n ?
//            b b b b b b b b b
