// One task, many ways to weigh: some pairs of a key and a value are shown, one of the keys is asked
// for, and its value is the answer. First with and without the scale, over widths; then with other
// functions in place of the softmax. Sigmoid and ReLU weigh each key by itself, so that they must
// be told how many there are: by a bias of -log n (Ramapuram et al., 2024), a factor of 1 / n
// (Wortsman et al., 2023).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/attention/attention.h"
#include "attend/nn/embedding.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

constexpr size_t kSymbols = 32, kExamples = 64, kPairs = 8;

struct Examples {
  size_t pairs;
  std::vector<int32_t> keys, values, asked, answers;

  Examples(size_t pair_count, uint64_t seed) : pairs(pair_count) {
    for (uint64_t i = 0; i < kExamples; ++i) {
      const RandomStream random(seed, i);
      std::vector<uint32_t> order(kSymbols);
      fill_permutation(order, random);
      for (size_t j = 0; j < pairs; ++j) {
        keys.push_back(static_cast<int32_t>(order[j]));
        values.push_back(static_cast<int32_t>(random.below(1000 + j, kSymbols)));
      }
      const size_t which = random.below(999, pairs);
      asked.push_back(keys[i * pairs + which]);
      answers.push_back(values[i * pairs + which]);
    }
  }
};

struct Setting {
  size_t width = 32, steps = 300;
  Score score = Score::kScaledDot;
  float first_weights = 1.0f;  // of the projections of queries and keys, times the usual ones
  Weighting weighting = Weighting::kSoftmax;
  bool counted = false;  // whether sigmoid and ReLU are told the number of keys
};

struct Network {
  Setting setting;
  Embedding key_symbol, value_symbol;
  Linear query, key, value, out;

  Network(const Setting& chosen, Rng& rng)
      : setting(chosen),
        key_symbol(kSymbols, setting.width, rng),
        value_symbol(kSymbols, setting.width, rng),
        query(setting.width, setting.width, rng),
        key(setting.width, setting.width, rng),
        value(setting.width, setting.width, rng),
        out(setting.width, kSymbols, rng) {
    for (const Linear* layer : {&query, &key}) {
      for (float& w : layer->weight.value.span()) w *= setting.first_weights;
    }
  }

  Tensor operator()(const Examples& x) const {
    const auto rows = [&](const Embedding& table, const std::vector<int32_t>& ids) {
      const float unit = std::sqrt(static_cast<float>(setting.width));  // elements of variance 1
      return table(Tensor::ids(ids, {ids.size()}), unit);
    };
    const Tensor pairs = add(rows(key_symbol, x.keys), rows(value_symbol, x.values));
    const Tensor asked = rows(key_symbol, x.asked);
    const auto n = static_cast<float>(x.pairs);
    AttentionOptions options{.queries = Packing::even(kExamples, 1),
                             .keys = Packing::even(kExamples, x.pairs),
                             .score = setting.score,
                             .weighting = setting.weighting};
    const bool sigmoid = setting.weighting == Weighting::kSigmoid;
    if (setting.counted && sigmoid) options.bias = Tensor::full({1, 1}, -std::log(n));
    const Tensor read = attention(query(asked), key(pairs), value(pairs), options).output;
    return out(setting.counted && !sigmoid ? scale(read, 1.0f / n) : read);
  }

  void visit(Visitor& v) {
    v("key_symbol", key_symbol);
    v("value_symbol", value_symbol);
    v("query", query);
    v("key", key);
    v("value", value);
    v("out", out);
  }
};

Network trained(const Setting& setting) {
  Rng rng(1);
  Network network(setting, rng);
  Optimizer optimizer(parameters(network), {.rate = 0.1 / static_cast<double>(setting.width)});
  for (uint64_t step = 0; step < setting.steps; ++step) {
    const Examples x(kPairs, 1000 + step);
    backward(cross_entropy(network(x), Tensor::ids(x.answers, {kExamples})));
    optimizer.step();
  }
  return network;
}

double percent_right(const Network& network, size_t pairs = kPairs) {
  const NoGrad no_grad;
  double right = 0.0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const Examples x(pairs, seed);
    const Tensor logits = network(x);
    for (size_t i = 0; i < kExamples; ++i) {
      const auto row = logits.slice_rows(i, 1).span();
      right += std::ranges::max_element(row) - row.begin() == x.answers[i] ? 1.0 : 0.0;
    }
  }
  return 100.0 * right / (10 * kExamples);
}

int main() {
  fmt::print("% right     q.k   q.k   scaled   q.k, smaller first weights\n");
  fmt::print("steps       100   200      100   100\n");
  for (const size_t width : {16, 64, 256}) {
    const Setting plain{.width = width, .steps = 100, .score = Score::kDot};
    Setting longer = plain, scaled = plain, smaller = plain;
    longer.steps = 200;
    scaled.score = Score::kScaledDot;
    // Queries and keys that are smaller by the fourth root make scores smaller by the root.
    smaller.first_weights = 1.0f / std::sqrt(std::sqrt(static_cast<float>(width)));
    fmt::print("width {:3}   {:3.0f}   {:3.0f}   {:6.0f}   {:3.0f}\n", width,
               percent_right(trained(plain)), percent_right(trained(longer)),
               percent_right(trained(scaled)), percent_right(trained(smaller)));
  }

  fmt::print("trained on 8 pairs   % right with 8, 16 and 32 pairs\n");
  const std::pair<Weighting, bool> all[] = {
      {Weighting::kSoftmax, false},  {Weighting::kEntmax15, false}, {Weighting::kSigmoid, true},
      {Weighting::kSigmoid, false},  {Weighting::kRelu, true},      {Weighting::kRelu, false},
      {Weighting::kIdentity, false},
  };
  for (const auto& [weighting, counted] : all) {
    const Network network = trained({.weighting = weighting, .counted = counted});
    fmt::print("{:<20} {:4.0f} {:4.0f} {:4.0f}\n",
               fmt::format("{}{}", name_of(weighting), counted ? ", counted" : ""),
               percent_right(network), percent_right(network, 16), percent_right(network, 32));
  }
}

// Prints, numbers within 10 %:
// % right     q.k   q.k   scaled   q.k, smaller first weights
// steps       100   200      100   100
// width  16    53    98       97    96
// width  64    62    95      100   100
// width 256    52    90      100   100
// trained on 8 pairs   % right with 8, 16 and 32 pairs
// softmax               100  100  100
// entmax15              100  100  100
// sigmoid, counted      100  100  100
// sigmoid               100  100  100
// relu, counted         100   97   84
// relu                   98   96   91
// identity               97   85   55
