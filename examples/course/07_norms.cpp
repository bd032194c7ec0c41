// Lesson 7. A layer norm normalises each row by itself, a batch norm each column over all rows. And
// where the norm stands, before each sublayer or after the sum, decides how large gradients are at
// the start, and whether training needs a warm-up (Xiong et al., 2020).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/data/tokens.h"
#include "attend/models/block.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "attend/train/optimizer.h"

using namespace attend;

constexpr size_t kRows = 4, kColumns = 3, kWidth = 32, kLayers = 12, kLetters = 8;
constexpr size_t kLength = 8, kTexts = 16, kSteps = 150;

void print_means(const char* name, const Tensor& x) {
  fmt::print("{:<12} means of rows", name);
  for (size_t r = 0; r < kRows; ++r) {
    float sum = 0;
    for (const float value : x.slice_rows(r, 1).span()) sum += value / kColumns;
    fmt::print(" {:5.1f}", std::abs(sum) < 0.05f ? 0.0f : sum);
  }
  fmt::print("   of columns");
  for (size_t c = 0; c < kColumns; ++c) {
    float sum = 0;
    for (size_t r = 0; r < kRows; ++r) sum += x.data()[r * kColumns + c] / kRows;
    fmt::print(" {:5.1f}", std::abs(sum) < 0.05f ? 0.0f : sum);
  }
  fmt::print("\n");
}

void rows_and_columns() {
  const TrainingScope training(Rng(1));
  const LayerNorm layer(kColumns);
  const BatchNorm batch(kColumns);
  Tensor x = Tensor::of({1, 2, 9, 0, 2, 4, 5, 5, 8, 3, 6, 3}, {kRows, kColumns});
  print_means("x", x);
  const Tensor by_row = layer(x), by_column = batch(x);
  print_means("layer norm", by_row);
  print_means("batch norm", by_column);
  Tensor other = Tensor::of(x.to_vector(), x.shape());
  other.data()[kRows * kColumns - 1] = 30;  // in the last row
  const auto first_row = [](const Tensor& y) { return y.slice_rows(0, 1).to_vector(); };
  fmt::print("the last row changes; so does the first, layer norm: {}, batch norm: {}\n\n",
             first_row(layer(other)) != first_row(by_row),
             first_row(batch(other)) != first_row(by_column));
}

// Letters are to be said backwards, row by row.
struct Network {
  PlacedEmbedding letters;
  std::vector<SelfBlock> blocks;
  Norm norm;  // the last one, where norms come before
  NormPlace place;
  Linear output;

  Network(NormPlace where, Rng& rng) : place(where), output(kWidth, kLetters, rng) {
    letters = PlacedEmbedding({.scheme = PositionScheme::kLearned, .max_length = kLength},
                              Embedding(kLetters, kWidth, rng), rng);
    BlockConfig config{.width = kWidth, .feed_forward = 4 * kWidth, .norm_place = where};
    config.attention.heads = 4;
    for (size_t i = 0; i < kLayers; ++i) blocks.emplace_back(config, false, "layer", rng);
    norm = Norm(config);
  }

  Tensor operator()(const Tokens& tokens) const {
    Tensor x = letters(tokens.ids, tokens.packing);
    for (const SelfBlock& block : blocks) x = block(x, tokens.packing);
    return output(place == NormPlace::kPre ? norm(x) : x);
  }

  void visit(Visitor& v) {
    v("letters", letters);
    v("blocks", blocks);
    v("norm", norm);
    v("output", output);
  }
};

struct Texts {
  std::vector<int32_t> ids, labels;
  explicit Texts(uint64_t number) : ids(kTexts * kLength) {
    const RandomStream random(9, number);
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<int32_t>(random.below(i, kLetters));
    for (size_t t = 0; t < kTexts; ++t) {
      for (size_t i = kLength; i-- > 0;) labels.push_back(ids[t * kLength + i]);
    }
  }
  Tensor loss(const Network& network) const {
    return cross_entropy(network({ids, Packing::even(kTexts, kLength)}),
                         Tensor::ids(labels, {labels.size()}));
  }
};

void gradients_at_the_start(NormPlace place) {
  Rng rng(1);
  Network network(place, rng);
  backward(Texts(0).loss(network));
  fmt::print("{:<6}", name_of(place));
  for (const size_t layer : {0, 3, 7, 11}) {
    double squared = 0;
    for (const float g : network.blocks[layer].feed_forward.out.weight.value.grad().span()) {
      squared += double{g} * g;
    }
    fmt::print("{:8.3f}", std::sqrt(squared));
  }
  fmt::print("\n");
}

double loss_after_training(NormPlace place, size_t warmup) {
  Rng rng(1);
  Network network(place, rng);
  Optimizer optimizer(parameters(network), {.rate = 3e-3});
  double last = 0;
  for (uint64_t step = 1; step <= kSteps; ++step) {
    const Tensor loss = Texts(step).loss(network);
    backward(loss);
    optimizer.step(std::min(1.0, static_cast<double>(step) / static_cast<double>(warmup)));
    if (step > kSteps - 10) last += loss.item() / 10;
  }
  return last;
}

int main() {
  rows_and_columns();
  fmt::print("gradient at the start\nnorm   layer 1       4       8      12\n");
  gradients_at_the_start(NormPlace::kPre);
  gradients_at_the_start(NormPlace::kPost);
  fmt::print("\nloss after {} updates ({:.2f} is chance)\nnorm   warm-up of 1     of {}\n", kSteps,
             std::log(double{kLetters}), kSteps);
  for (const NormPlace place : {NormPlace::kPre, NormPlace::kPost}) {
    fmt::print("{:<6} {:12.2f}   {:6.2f}\n", name_of(place), loss_after_training(place, 1),
               loss_after_training(place, kSteps));
  }
}

// Prints, numbers within 5 %:
// x            means of rows   4.0   2.0   6.0   4.0   of columns   2.2   3.8   6.0
// layer norm   means of rows   0.0   0.0   0.0   0.0   of columns  -0.9   0.0   0.8
// batch norm   means of rows  -0.2  -1.0   1.0   0.2   of columns   0.0   0.0   0.0
// the last row changes; so does the first, layer norm: false, batch norm: true
//
// gradient at the start
// norm   layer 1       4       8      12
// pre      0.853   0.530   0.402   0.290
// post     1.590   1.221   1.812   1.774
//
// loss after 150 updates (2.08 is chance)
// norm   warm-up of 1     of 150
// pre            1.59     1.62
// post           2.02     1.76
