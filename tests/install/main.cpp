#include <cstdio>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/tensor/tape.h"

int main() {
  attend::Tensor x = attend::Tensor::of({1, 2, 3}, {3}).require_grad();
  attend::backward(x, attend::Tensor::full({3}, 0.5f));
  try {
    (void)x.reshape({2, 2});
  } catch (const attend::ShapeError& error) {
    std::puts(error.what());
  }
  attend::parallel_for(4, 1, [](size_t, size_t) {});
  std::printf("gradient %.1f\n", x.grad().data()[2]);
}
