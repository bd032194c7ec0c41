// Who gave, and who got? One attention layer reads "ann gave roses to ben" for all pairs of sixteen
// names, and both questions are answered from the vector of "gave". Trained without and with
// positions, with one head and two; tested on pairs that it has not seen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/attention/multi_head.h"
#include "attend/nn/embedding.h"
#include "attend/nn/positions.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/embedding.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

constexpr size_t kNames = 16, kWidth = 32, kLength = 5;
constexpr int32_t kGave = kNames, kRoses = kNames + 1, kTo = kNames + 2;

struct Sentences {
  std::vector<int32_t> words, gave, givers, receivers;  // `gave` is the row of the word

  // All pairs of different names. A fifth of them, with their reverses, is kept for the test.
  explicit Sentences(bool tested) {
    for (int32_t i = 0; i < static_cast<int32_t>(kNames); ++i) {
      for (int32_t j = 0; j < static_cast<int32_t>(kNames); ++j) {
        if (i == j || ((i + j) % 5 == 0) != tested) continue;
        gave.push_back(static_cast<int32_t>(words.size()) + 1);
        words.insert(words.end(), {i, kGave, kRoses, kTo, j});
        givers.push_back(i);
        receivers.push_back(j);
      }
    }
  }
};

struct Network {
  bool placed, deep;
  Embedding embedding;
  SinusoidalPositions positions;
  MultiHeadAttention layer;
  Linear hidden, giver, receiver;

  Network(bool with_positions, size_t heads, bool with_hidden, Rng& rng)
      : placed(with_positions),
        deep(with_hidden),
        embedding(kNames + 3, kWidth, rng),
        positions({.width = kWidth}),
        layer({.width = kWidth, .heads = heads}, rng),
        hidden(kWidth, 64, rng),
        giver(with_hidden ? 64 : kWidth, kNames, rng),
        receiver(with_hidden ? 64 : kWidth, kNames, rng) {}

  std::pair<Tensor, Tensor> operator()(const Sentences& text) const {
    const Packing packing = Packing::even(text.gave.size(), kLength);
    Tensor x = embedding(Tensor::ids(text.words, {text.words.size()}), 4.0f);
    if (placed) x = positions(x, packing);
    Tensor y = gather_rows(layer(x, packing), Tensor::ids(text.gave, {text.gave.size()}));
    if (deep) y = hidden(y, Activation::kRelu);
    return {giver(y), receiver(y)};
  }

  void visit(Visitor& v) {
    v("embedding", embedding);
    v("layer", layer);
    if (deep) v("hidden", hidden);
    v("giver", giver);
    v("receiver", receiver);
  }
};

Tensor labels(const std::vector<int32_t>& ids) { return Tensor::ids(ids, {ids.size()}); }

double percent_right(const Network& network, const Sentences& text) {
  const NoGrad no_grad;
  const auto [giver, receiver] = network(text);
  double right = 0.0;
  for (const auto& [logits, answers] :
       {std::pair(giver, text.givers), {receiver, text.receivers}}) {
    for (size_t i = 0; i < answers.size(); ++i) {
      const auto row = logits.slice_rows(i, 1).span();
      right += std::ranges::max_element(row) - row.begin() == answers[i] ? 0.5 : 0.0;
    }
  }
  return 100.0 * right / static_cast<double>(text.gave.size());
}

// The mean of three networks, which differ by their first weights.
void measure(const char* name, bool with_positions, size_t heads, bool with_hidden) {
  const Sentences seen(false), unseen(true);
  double right = 0.0, right_seen = 0.0;
  for (const uint64_t seed : {1, 2, 3}) {
    Rng rng(seed);
    Network network(with_positions, heads, with_hidden, rng);
    Optimizer optimizer(parameters(network), {.rate = 5e-3});
    for (int step = 0; step < 150; ++step) {
      const auto [giver, receiver] = network(seen);
      backward(add(cross_entropy(giver, labels(seen.givers)),
                   cross_entropy(receiver, labels(seen.receivers))));
      optimizer.step();
    }
    right += percent_right(network, unseen) / 3, right_seen += percent_right(network, seen) / 3;
  }
  fmt::print("{:<36} {:9.0f} {:13.0f}\n", name, right, right_seen);
}

int main() {
  fmt::print("{:<36} new pairs trained pairs\n", "% of givers and receivers right");
  measure("no positions, 1 head", false, 1, false);
  measure("no positions, 8 heads", false, 8, false);
  measure("no positions, 8 heads, hidden layer", false, 8, true);
  measure("positions, 1 head", true, 1, false);
  measure("positions, 1 head, hidden layer", true, 1, true);
  measure("positions, 2 heads", true, 2, false);
}

// Prints, numbers within 10 %:
// % of givers and receivers right      new pairs trained pairs
// no positions, 1 head                        49            50
// no positions, 8 heads                       50            50
// no positions, 8 heads, hidden layer         49            50
// positions, 1 head                           50            99
// positions, 1 head, hidden layer             50           100
// positions, 2 heads                          90           100
