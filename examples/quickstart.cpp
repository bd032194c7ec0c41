// Tensors, a layer, a loss, and its gradient.
#include <fmt/format.h>

#include "attend/nn/linear.h"
#include "attend/ops/reduce.h"
#include "attend/tensor/tape.h"

int main() {
  attend::Rng rng(42);
  attend::Linear layer(3, 2, rng);  // weight [2, 3], bias [2]
  const auto x = attend::Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto loss = attend::mean(layer(x, attend::Activation::kGelu));
  attend::backward(loss);
  fmt::print("loss {:.4f}\n", loss.item());
  fmt::print("gradient of the bias {:.4f}\n", fmt::join(layer.bias.grad().span(), " "));
}

// Prints:
// loss 0.7276
// gradient of the bias 0.2744 0.4767
