// Trains a network to compute exclusive or: a module, a loss, an optimiser, a loop.
#include <fmt/format.h>

#include "attend/nn/linear.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/softmax.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "attend/train/optimizer.h"

using namespace attend;

// A module is a plain struct that lists its parts once.
struct Network {
  Linear hidden, out;

  explicit Network(Rng& rng) : hidden(2, 8, rng), out(8, 2, rng) {}

  Tensor operator()(const Tensor& x) const { return out(hidden(x, Activation::kTanh)); }

  void visit(Visitor& v) {
    v("hidden", hidden);
    v("out", out);
  }
};

int main() {
  Rng rng(1);
  Network network(rng);
  fmt::print("{} parameters\n", parameter_count(network));

  const Tensor x = Tensor::of({0, 0, 0, 1, 1, 0, 1, 1}, {4, 2});
  const Tensor answers = Tensor::ids({0, 1, 1, 0});
  Optimizer optimizer(parameters(network), {.rate = 0.02});
  for (uint64_t step = 1; step <= 200; ++step) {
    const TrainingScope training(Rng(1, step << 32));
    const Tensor loss = cross_entropy(network(x), answers);
    backward(loss);
    optimizer.step();
    if (step % 50 == 0) fmt::print("step {}: loss {:.2f}\n", step, loss.item());
  }

  const NoGrad no_grad;
  const Tensor chances = softmax(network(x));
  for (size_t i = 0; i < x.rows(); ++i) {
    const float* row = x.data() + i * x.width();
    fmt::print("{} xor {} is 1 with probability {:.1f}\n", row[0], row[1],
               chances.data()[2 * i + 1]);
  }
}

// Prints:
// 42 parameters
// step 50: loss 0.34
// step 100: loss 0.04
// step 150: loss 0.01
// step 200: loss 0.01
// 0 xor 0 is 1 with probability 0.0
// 0 xor 1 is 1 with probability 1.0
// 1 xor 0 is 1 with probability 1.0
// 1 xor 1 is 1 with probability 0.0
