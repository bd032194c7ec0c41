#include "attend/base/error.h"
#include "attend/ops/linear.h"
#include "attend/ops/matrix.h"

namespace attend {
namespace {

// Sizes of a product, or of a batch of them.
struct Product {
  size_t batch, m, n, k;
};

Product product_of(const Tensor& a, const Tensor& b, MatmulOptions options) {
  const auto [ta, tb] = options;
  const bool fits = a.rank() == b.rank() && (a.rank() == 2 || a.rank() == 3) &&
                    (a.rank() == 2 || a.extent(0) == b.extent(0)) &&
                    a.extent(ta ? -2 : -1) == b.extent(tb ? -1 : -2);
  if (!fits) {
    throw ShapeError("matmul: {}{} and {}{} cannot be multiplied", a.shape(),
                     ta ? " transposed" : "", b.shape(), tb ? " transposed" : "");
  }
  return {a.rank() == 3 ? a.extent(0) : 1, a.extent(ta ? -1 : -2), b.extent(tb ? -2 : -1),
          a.extent(ta ? -2 : -1)};
}

struct Operand {
  const Tensor& tensor;
  bool transposed = false;
};

size_t step(const Tensor& x) { return x.extent(-2) * x.stride(); }

void multiply(Product size, Operand a, Operand b, const Tensor& c,
              const kernels::GemmOptions& options) {
  kernels::gemm_batch({size.batch, step(a.tensor), step(b.tensor), step(c)}, size.m, size.n, size.k,
                      matrix(a.tensor, a.transposed), matrix(b.tensor, b.transposed), target(c),
                      options);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options) {
  const Product size = product_of(a, b, options);
  const auto [batch, m, n, k] = size;
  const bool ta = options.transpose_a, tb = options.transpose_b;
  Tensor c = Tensor::empty(a.rank() == 3 ? Shape{batch, m, n} : Shape{m, n});
  multiply(size, {a, ta}, {b, tb}, c, {});

  return record(c, {a, b}, [=](const Tensor& dc, Grads& grads) {
    if (grads.wants(a)) {
      const Gradient da = grads.of(a);
      if (ta) {
        multiply({batch, k, m, n}, {b, tb}, {dc, true}, da.tensor, into(da));
      } else {
        multiply({batch, m, k, n}, {dc}, {b, !tb}, da.tensor, into(da));
      }
    }
    if (grads.wants(b)) {
      const Gradient db = grads.of(b);
      if (tb) {
        multiply({batch, n, k, m}, {dc, true}, {a, ta}, db.tensor, into(db));
      } else {
        multiply({batch, k, n, m}, {a, !ta}, {dc}, db.tensor, into(db));
      }
    }
  });
}

}  // namespace attend
