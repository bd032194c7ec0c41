// Lesson 7. How far is it from one row to another? Layers between a row and one that is 63 rows
// before it, found by the gradient: where none arrives, the one row cannot know of the other. Then
// how much of the gradient arrives, by distance, before anything is trained.
// With the argument "lines" it prints that for a plot.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

#include "attend/attention/multi_head.h"
#include "attend/nn/conv1d.h"
#include "attend/nn/norm.h"
#include "attend/nn/recurrent.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"

using namespace attend;

constexpr size_t kLength = 64, kTexts = 16, kWidth = 32;
const Packing kPacking = Packing::even(kTexts, kLength);

Tensor random(const Shape& shape, uint64_t stream) {
  Tensor x = Tensor::empty(shape);
  fill_normal(x.span(), RandomStream(7, stream), 0.0f, 1.0f);
  return x;
}

using Stack = std::function<Tensor(const Tensor&)>;

// The size of the gradient that the last row of each text sends to each row before it, by distance.
std::array<double, kLength> gradients(const Stack& stack) {
  Tensor x = random({kPacking.rows(), kWidth}, 0);
  x.require_grad();
  Tensor seed = Tensor::zeros({kPacking.rows(), kWidth});
  const Tensor direction = random({kTexts, kWidth}, 1);
  for (size_t t = 0; t < kTexts; ++t) {
    const auto from = direction.slice_rows(t, 1).span();
    std::ranges::copy(from, seed.slice_rows(kPacking.end(t) - 1, 1).span().begin());
  }
  backward(stack(x), seed);
  std::array<double, kLength> sizes{};
  for (size_t row = 0; row < kPacking.rows(); ++row) {
    double squared = 0;
    for (const float g : x.grad().slice_rows(row, 1).span()) squared += double{g} * g;
    sizes[kLength - 1 - row % kLength] += std::sqrt(squared) / kTexts;
  }
  return sizes;
}

// Layers of x + tanh(conv(norm(x))) that see only what came before.
Stack convolutions(size_t layers, size_t kernel, bool dilated) {
  Rng rng(1);
  std::vector<Conv1d> all;
  for (size_t i = 0; i < layers; ++i) {
    all.emplace_back(Conv1dConfig{.in = kWidth,
                                  .out = kWidth,
                                  .kernel = kernel,
                                  .dilation = dilated ? size_t{1} << i : 1,
                                  .padding = ConvPadding::kCausal,
                                  .init = Init::kXavierUniform},
                     rng);
  }
  return [all, norm = LayerNorm(kWidth)](const Tensor& x) {
    Tensor y = x;
    for (const Conv1d& conv : all) y = add(y, conv(norm(y), kPacking).rows);
    return y;
  };
}

Stack recurrence(Cell cell) {
  Rng rng(1);
  const Recurrent layer({.cell = cell, .input = kWidth, .hidden = kWidth}, rng);
  return [layer](const Tensor& x) { return layer(x, kPacking).output; };
}

Stack self_attention() {
  Rng rng(1);
  const MultiHeadAttention layer({.width = kWidth, .heads = 4, .causal = true}, rng);
  return [layer](const Tensor& x) { return layer(x, kPacking); };
}

// How many layers of them it takes until the gradient reaches the first row.
size_t layers_needed(size_t kernel, bool dilated) {
  size_t layers = 1;
  while (gradients(convolutions(layers, kernel, dilated)).back() == 0) ++layers;
  return layers;
}

int main(int arguments, char** argument) {
  const bool lines = arguments > 1 && argument[1] == std::string_view("lines");
  const size_t deep = layers_needed(3, false), dilated = layers_needed(2, true);
  const struct {
    const char *name, *path;
    Stack stack;
  } all[] = {
      {"rnn", "63 steps", recurrence(Cell::kRnnTanh)}, {"gru", "63 steps", recurrence(Cell::kGru)},
      {"lstm", "63 steps", recurrence(Cell::kLstm)},   {"conv", "", convolutions(deep, 3, false)},
      {"dilated", "", convolutions(dilated, 2, true)}, {"attention", "1 layer", self_attention()}};
  if (!lines) {
    fmt::print("convolutions of 3 need {} layers to see 63 rows back, dilated ones of 2 need {}\n",
               deep, dilated);
    fmt::print("the gradient at a distance, as a power of ten of the largest\n           ");
    for (const size_t distance : {0, 1, 2, 4, 8, 16, 32, 63}) fmt::print("{:7}", distance);
    fmt::print("\n");
  }
  for (const auto& [name, path, stack] : all) {
    const std::array<double, kLength> sizes = gradients(stack);
    const double most = *std::ranges::max_element(sizes);
    if (!lines) fmt::print("{:<11}", name);
    for (const size_t distance : {0, 1, 2, 4, 8, 16, 32, 63}) {
      const double power = std::log10(sizes[distance] / most);
      if (lines) fmt::print("{}\t{}\t{:.3f}\n", name, distance, power);
      if (!lines) fmt::print("{:7.1f}", std::abs(power) < 0.05 ? 0.0 : power);
    }
    if (!lines) fmt::print("\n");
  }
}

// Prints, numbers within 5 %:
// convolutions of 3 need 32 layers to see 63 rows back, dilated ones of 2 need 6
// the gradient at a distance, as a power of ten of the largest
//                  0      1      2      4      8     16     32     63
// rnn            0.0   -0.3   -0.7   -1.4   -2.7   -5.5  -11.0  -21.6
// gru            0.0   -0.2   -0.5   -0.9   -1.9   -3.6   -7.0  -13.5
// lstm           0.0   -0.3   -0.5   -1.0   -2.0   -3.7   -7.1  -13.9
// conv          -0.1   -0.1    0.0    0.0   -0.5   -2.1   -7.6  -24.8
// dilated        0.0   -0.2   -0.4   -0.4   -0.5   -0.6   -0.6   -2.7
// attention      0.0   -0.9   -0.9   -1.0   -1.0   -1.0   -1.0   -0.8
