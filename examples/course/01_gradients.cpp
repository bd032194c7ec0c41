// Lesson 1: gradients through time. How much does the last state of a recurrent network depend on
// what was read k steps before? And what does one huge gradient do to training?
#include <fmt/format.h>

#include <cmath>

#include "attend/nn/recurrent.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/reduce.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

constexpr size_t kWidth = 32, kLength = 41, kStrings = 50;

// log10 of the gradient of the last state with respect to the input k steps before it, relative to
// k = 0; the mean over strings of random vectors.
double log_gradient(const Recurrent& network, size_t k) {
  double sum = 0;
  for (uint64_t i = 0; i < kStrings; ++i) {
    Tensor x = Tensor::empty({kLength, kWidth});
    fill_normal(x.span(), RandomStream(1, i), 0.0f, 1.0f);
    x.require_grad();
    backward(mean(network(x, Packing::even(1, kLength)).states.front().h));
    const auto norm = [&](size_t back) {
      double squares = 0;
      for (const float g : x.grad().slice_rows(kLength - 1 - back, 1).span()) squares += g * g;
      return std::sqrt(squares);
    };
    sum += std::log10(norm(k) / norm(0));
  }
  return sum / kStrings;
}

// Recurrent weights drawn with a deviation of gain / sqrt(width).
Recurrent with_gain(Cell cell, float gain) {
  Rng rng(3);
  Recurrent network({.cell = cell, .input = kWidth, .hidden = kWidth}, rng);
  initialize(network.weights[0].hidden, Init::kNormal, RandomStream(3, 100),
             gain / std::sqrt(float{kWidth}));
  return network;
}

// The forget gate of an LSTM is the second of its four.
Recurrent lstm(float forget_bias) {
  Recurrent network = with_gain(Cell::kLstm, 0.5f);
  Tensor bias = network.weights[0].input_bias;
  for (size_t i = kWidth; i < 2 * kWidth; ++i) bias.data()[i] = forget_bias;
  return network;
}

// One unit that multiplies its state by w fifty times, h = w^50, and should end at h = 1: w = 1.
void train_one_unit(double clip_norm) {
  Rng rng(1);
  Recurrent unit({.cell = Cell::kRnnRelu, .input = 1, .hidden = 1, .bias = false}, rng);
  Tensor& w = unit.weights[0].hidden;
  w.data()[0] = 1.1f;
  Optimizer optimizer({{"w", w}},
                      {.kind = OptimizerKind::kSgd, .rate = 0.01, .clip_norm = clip_norm});
  const Tensor nothing = Tensor::zeros({50, 1}), one = Tensor::full({1, 1}, 1.0f);
  for (int step = 0; step < 20; ++step) {
    const Tensor h = unit(nothing, Packing::even(1, 50), {{.h = one}}).states.front().h;
    const Tensor error = subtract(h, one);
    backward(sum(multiply(error, error)));
    if (step == 0) fmt::print("gradient {:.0f}", w.grad().item());
    optimizer.step();
    if (step == 0) fmt::print(", w after 1 step {:.2f}", w.item());
  }
  fmt::print(", after 20 steps {:.2f}\n", w.item());
}

int main() {
  constexpr size_t kDistances[] = {5, 10, 20, 40};
  fmt::print("{:40}", "log10 of the gradient, k steps back: k =");
  for (const size_t k : kDistances) fmt::print(" {:6}", k);
  fmt::print("\n");
  const auto row = [&](const char* name, const Recurrent& network) {
    fmt::print("{:40}", name);
    for (const size_t k : kDistances) fmt::print(" {:6.1f}", log_gradient(network, k));
    fmt::print("\n");
  };
  row("tanh, small weights (gain 0.5)", with_gain(Cell::kRnnTanh, 0.5f));
  row("tanh, large weights (gain 3)", with_gain(Cell::kRnnTanh, 3.0f));
  row("LSTM, forget gate half open (bias 0)", lstm(0));
  row("LSTM, forget gate open (bias 5)", lstm(5));

  fmt::print("without clipping: "), train_one_unit(0);
  fmt::print("clipped to 1:     "), train_one_unit(1);
}

// Prints, numbers within 5 %:
// log10 of the gradient, k steps back: k =      5     10     20     40
// tanh, small weights (gain 0.5)             -2.1   -4.0   -7.8  -15.2
// tanh, large weights (gain 3)                0.5    0.9    1.8    3.9
// LSTM, forget gate half open (bias 0)       -1.4   -2.7   -5.2   -9.7
// LSTM, forget gate open (bias 5)            -0.5   -0.5   -0.5   -0.3
// without clipping: gradient 1242113, w after 1 step -12420.03, after 20 steps -12420.03
// clipped to 1:     gradient 1242113, w after 1 step 1.09, after 20 steps 1.00
