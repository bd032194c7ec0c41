#include "attend/ops/softmax.h"

#include "attend/kernels/softmax.h"
#include "attend/ops/rows.h"
#include "attend/tensor/tape.h"

namespace attend {

Tensor softmax(const Tensor& x) {
  Tensor y = Tensor::like(x);
  kernels::softmax(rows_of(x), mutable_rows_of(y));
  return record(y, {x}, [x, y = y.detach()](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    kernels::softmax_backward(rows_of(y), rows_of(dy), mutable_rows_of(dx.tensor), dx.add);
  });
}

Tensor log_softmax(const Tensor& x) {
  Tensor y = Tensor::like(x);
  kernels::log_softmax(rows_of(x), mutable_rows_of(y));
  return record(y, {x}, [x, y = y.detach()](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    kernels::log_softmax_backward(rows_of(y), rows_of(dy), mutable_rows_of(dx.tensor), dx.add);
  });
}

}  // namespace attend
