// Select, then learn. Each example has many items, one of them marked, and its label depends on
// that one alone: the others are irrelevant context. Three networks with the same last layers see
// the same 400 examples: all items in a row, their mean, or what one attention query picked.
#include <fmt/format.h>

#include <algorithm>

#include "attend/attention/pooling.h"
#include "attend/nn/embedding.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/pool.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

constexpr size_t kSymbols = 12, kLabels = 4, kWidth = 16, kTrained = 400, kTested = 1000;

struct Examples {
  Tensor symbols;  // int32 [examples x items]
  Tensor marks;    // int32, 1 for one item of each example
  Tensor labels;   // int32 [examples]: one of four groups that the marked symbol belongs to
  size_t count, items;

  Packing packing() const { return Packing::even(count, items); }

  Examples(size_t examples, size_t item_count, uint64_t seed) : count(examples), items(item_count) {
    const RandomStream random(seed, 0), marked(seed, 1);
    std::vector<int32_t> ids, flags, answers;
    for (size_t i = 0; i < count; ++i) {
      const size_t which = marked.below(i, items);
      for (size_t j = 0; j < items; ++j) {
        ids.push_back(static_cast<int32_t>(random.below(i * items + j, kSymbols)));
        flags.push_back(j == which ? 1 : 0);
        if (j == which) answers.push_back(ids.back() % static_cast<int32_t>(kLabels));
      }
    }
    symbols = Tensor::ids(ids, {ids.size()});
    marks = Tensor::ids(flags, {flags.size()});
    labels = Tensor::ids(answers, {answers.size()});
  }
};

enum class Reads { kAllInARow, kMean, kAttention };

struct Network {
  Reads reads;
  Embedding symbol, mark;
  AttentionPooling pooling;
  Linear hidden, out;

  Network(Reads how, size_t items, Rng& rng)
      : reads(how),
        symbol(kSymbols, kWidth, rng),
        mark(2, kWidth, rng),
        pooling({.queries = 1, .attention = {.width = kWidth, .heads = 1}}, rng),
        hidden(how == Reads::kAllInARow ? items * kWidth : kWidth, 64, rng),
        out(64, kLabels, rng) {}

  Tensor operator()(const Examples& x) const {
    const Tensor rows = scale(add(symbol(x.symbols), mark(x.marks)), 4.0f);
    const Tensor read = reads == Reads::kAllInARow ? rows.reshape({x.count, x.items * kWidth})
                        : reads == Reads::kMean    ? mean_pool(rows, x.packing())
                                                   : pooling(rows, x.packing());
    return out(hidden(read, Activation::kRelu));
  }

  void visit(Visitor& v) {
    v("symbol", symbol);
    v("mark", mark);
    if (reads == Reads::kAttention) v("pooling", pooling);
    v("hidden", hidden);
    v("out", out);
  }
};

double percent_right(const Network& network, const Examples& x) {
  const NoGrad no_grad;
  const Tensor logits = network(x);
  double right = 0.0;
  for (size_t i = 0; i < x.count; ++i) {
    const auto row = logits.slice_rows(i, 1).span();
    const auto best = std::ranges::max_element(row) - row.begin();
    right += best == x.labels.indices()[i] ? 1.0 : 0.0;
  }
  return 100.0 * right / static_cast<double>(x.count);
}

int main() {
  fmt::print("items   % right of new examples (of those trained on)\n");
  fmt::print("        in a row     mean         attention    attention, on twice the items\n");
  for (const size_t items : {2, 8, 32}) {
    const Examples seen(kTrained, items, 1), unseen(kTested, items, 2);
    fmt::print("{:5} ", items);
    for (const Reads reads : {Reads::kAllInARow, Reads::kMean, Reads::kAttention}) {
      Rng rng(4);
      Network network(reads, items, rng);
      Optimizer optimizer(parameters(network), {.rate = 5e-3});
      for (int step = 0; step < 150; ++step) {
        backward(cross_entropy(network(seen), seen.labels));
        optimizer.step();
      }
      fmt::print("  {:3.0f} {:<7}", percent_right(network, unseen),
                 fmt::format("({:.0f})", percent_right(network, seen)));
      if (reads == Reads::kAttention) {
        fmt::print("  {:3.0f}", percent_right(network, Examples(kTested, 2 * items, 3)));
      }
    }
    fmt::print("\n");
  }
}

// Prints, numbers within 10 %:
// items   % right of new examples (of those trained on)
//         in a row     mean         attention    attention, on twice the items
//     2   100 (100)     64 (76)     100 (100)    100
//     8    42 (100)     37 (61)     100 (100)    100
//    32    29 (100)     32 (48)     100 (100)    100
