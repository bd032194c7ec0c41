#include "attend/ops/glu.h"

#include "attend/base/error.h"
#include "attend/kernels/glu.h"
#include "attend/ops/rows.h"
#include "attend/tensor/tape.h"

namespace attend {

Tensor glu(const Tensor& x) {
  if (x.rank() == 0 || x.width() % 2 != 0) {
    throw ShapeError("glu: {} has no two halves of columns", x.shape());
  }
  Shape shape = x.shape();
  shape.set(-1, x.width() / 2);
  const Tensor y = Tensor::empty(shape);
  kernels::glu(rows_of(x), mutable_rows_of(y));
  return record(y, {x}, [x](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    kernels::glu_backward(rows_of(x), rows_of(dy), mutable_rows_of(dx.tensor), dx.add);
  });
}

}  // namespace attend
