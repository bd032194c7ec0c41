// Lesson 6. Each row is asked for two letters, the one before it and the one after it. One head has
// one set of weights to find both with, and mixes them. Two heads keep them apart. Heads that each
// project a slice of the row are compared with heads that project all of it.
// With the name of a file as its argument it draws where one head looks, and where two do.
#include <fmt/format.h>

#include <algorithm>

#include "attend/attention/attention.h"
#include "attend/attention/bias.h"
#include "attend/attention/recorder.h"
#include "attend/base/files.h"
#include "attend/inspect/draw.h"
#include "attend/nn/conv1d.h"
#include "attend/nn/embedding.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

constexpr size_t kLetters = 16, kWidth = 32, kLength = 12, kTexts = 32;
const T5Buckets kDistances{.count = 16, .farthest = 16};

struct Settings {
  const char* name;
  size_t heads;
  bool sliced = false, mlp = false;
};

struct Network {
  Settings settings;
  Embedding letters;
  Conv1d query, key, value;  // kernels of one row: linear layers; of groups, where heads are sliced
  Tensor distances;          // [buckets, heads]: what a head adds to the score of each distance
  Linear output, hidden, before, after;

  Network(const Settings& s, Rng& rng) : settings(s), letters(kLetters, kWidth, rng) {
    const Conv1dConfig rows{.in = kWidth, .out = kWidth, .groups = s.sliced ? s.heads : 1};
    query = Conv1d(rows, rng), key = Conv1d(rows, rng), value = Conv1d(rows, rng);
    distances = parameter({kDistances.count, s.heads}, Init::kZeros, rng);
    output = Linear(kWidth, kWidth, rng);
    if (s.mlp) hidden = Linear(kWidth, 4 * kWidth, rng);
    before = Linear(s.mlp ? 4 * kWidth : kWidth, kLetters, rng);
    after = Linear(s.mlp ? 4 * kWidth : kWidth, kLetters, rng);
  }

  // The logits of the letter before and of the letter after each row.
  std::pair<Tensor, Tensor> operator()(const Tensor& ids, const Packing& packing) const {
    const Tensor x = letters(ids);
    const Tensor q = query(x, packing).rows, k = key(x, packing).rows, v = value(x, packing).rows;
    const Tensor heads = attention(q, k, v,
                                   {.heads = settings.heads,
                                    .queries = packing,
                                    .keys = packing,
                                    .relative = t5_bias(distances, kDistances, kLength)})
                             .output;
    Tensor y = output(heads);
    if (settings.mlp) y = hidden(y, Activation::kGelu);
    return {before(y), after(y)};
  }

  void visit(Visitor& v) {
    v("letters", letters);
    v("query", query);
    v("key", key);
    v("value", value);
    v("distances", distances);
    v("output", output);
    v("hidden", hidden);
    v("before", before);
    v("after", after);
  }
};

struct Texts {
  Packing packing = Packing::even(kTexts, kLength);
  Tensor ids, before, after;

  explicit Texts(uint64_t number) {
    const RandomStream random(3, number);
    std::vector<int32_t> letters(kTexts * kLength), left, right;
    for (size_t i = 0; i < letters.size(); ++i) {
      letters[i] = static_cast<int32_t>(random.below(i, kLetters));
    }
    for (size_t i = 0; i < letters.size(); ++i) {
      left.push_back(i % kLength == 0 ? kIgnoredTarget : letters[i - 1]);
      right.push_back((i + 1) % kLength == 0 ? kIgnoredTarget : letters[i + 1]);
    }
    ids = Tensor::ids(letters, {letters.size()});
    before = Tensor::ids(left, {left.size()});
    after = Tensor::ids(right, {right.size()});
  }
};

double percent_right(const Tensor& logits, const Tensor& labels) {
  size_t right = 0, asked = 0;
  for (size_t row = 0; row < logits.rows(); ++row) {
    const int32_t label = labels.indices()[row];
    if (label == kIgnoredTarget) continue;
    const auto all = logits.slice_rows(row, 1).span();
    ++asked;
    right += std::ranges::max_element(all) - all.begin() == label ? 1 : 0;
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(asked);
}

std::vector<HeatMap> maps;

void train(const Settings& settings) {
  Rng rng(1);
  Network network(settings, rng);
  Optimizer optimizer(parameters(network), {.rate = 2e-2});
  constexpr uint64_t kSteps = 500;
  for (uint64_t step = 0; step < kSteps; ++step) {
    const Texts texts(1 + step);
    const auto [before, after] = network(texts.ids, texts.packing);
    backward(add(cross_entropy(before, texts.before), cross_entropy(after, texts.after)));
    optimizer.step(1.0 - static_cast<double>(step) / kSteps);
  }
  const NoGrad no_grad;
  const Texts texts(0);
  Recorder recorder;
  const auto [before, after] = network(texts.ids, texts.packing);
  fmt::print("{:<26} {:10}   {:4.0f} %  {:4.0f} %  ", settings.name, parameter_count(network),
             percent_right(before, texts.before), percent_right(after, texts.after));
  for (size_t head = 0; head < std::min<size_t>(settings.heads, 2); ++head) {
    const auto row = recorder.heads[head].weights.slice_rows(6, 1).span();
    fmt::print("  {:.2f} {:.2f}", row[5], row[7]);
    if (settings.heads > 2 || settings.sliced || settings.mlp) continue;
    HeatMap map{.title = fmt::format("{}, head {}", settings.name, head),
                .values = recorder.heads[head].weights};
    for (const int32_t id : texts.ids.index_span().first(kLength)) {
      map.rows.emplace_back(1, static_cast<char>('a' + id));
    }
    map.columns = map.rows;
    maps.push_back(std::move(map));
  }
  fmt::print("\n");
}

int main(int arguments, char** argument) {
  fmt::print("                           parameters   before   after  weights, head by head\n");
  train({"one head", 1});
  train({"one head, then an MLP", 1, false, true});
  train({"two heads", 2});
  train({"two heads of slices", 2, true});
  train({"eight heads", 8});
  train({"eight heads of slices", 8, true});
  if (arguments > 1) replace_file(argument[1], draw_maps(maps, PictureFormat::kSvg));
}

// Prints, numbers within 5 %:
//                            parameters   before   after  weights, head by head
// one head                         5808     99 %    19 %    0.46 0.42
// one head, then an MLP           13104    100 %   100 %    0.30 0.51
// two heads                        5824    100 %   100 %    0.58 0.17  0.16 0.61
// two heads of slices              4288    100 %   100 %    0.63 0.14  0.16 0.59
// eight heads                      5920    100 %   100 %    0.30 0.40  0.62 0.13
// eight heads of slices            3232    100 %   100 %    0.36 0.35  0.16 0.60
