#include "attend/ops/activations.h"

#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {

Tensor activate(Activation f, const Tensor& input) {
  const Tensor x = contiguous(input);
  Tensor y = Tensor::like(x);
  kernels::activate(f, x.data(), y.data(), x.size());
  return record(y, {x}, [f, x](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    kernels::activate_backward(f, x.data(), dy.data(), dx.data(), x.size(), dx.add);
  });
}

}  // namespace attend
