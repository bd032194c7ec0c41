// What somebody else writes with attend::core.
#include "attend/core.h"

#include <cstdio>

int main() {
  using attend::Tensor;
  Tensor x = Tensor::of({1, 2, 3}, {3}).require_grad();
  attend::backward(x, Tensor::full({3}, 0.5f));
  try {
    (void)x.reshape({2, 2});
  } catch (const attend::ShapeError& error) {
    std::puts(error.what());
  }
  attend::parallel_for(4, 1, [](size_t, size_t) {});
  std::printf("gradient %.1f\n", x.grad().data()[2]);

  const Tensor q = Tensor::of({1, 0}, {1, 2}), k = Tensor::of({0, 5, 0, 5}, {2, 2});
  const Tensor v = Tensor::of({2, 0, 4, 0}, {2, 2});
  std::printf("attention %.1f\n", attend::attention(q, k, v, {}).output.data()[0]);
}
