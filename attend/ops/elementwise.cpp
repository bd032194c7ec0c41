#include "attend/ops/elementwise.h"

#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/reduce.h"
#include "attend/ops/rows.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// Whether b is a vector for each row of a; throws when it is neither that nor of a's shape.
bool is_row_vector(const char* op, const Tensor& a, const Tensor& b) {
  if (a.shape() == b.shape()) return false;
  if (b.rank() == 1 && a.rank() > 1 && b.size() == a.width()) return true;
  throw ShapeError(
      "{}: {} and {} do not fit; the second must have the shape of the first or be [{}]", op,
      a.shape(), b.shape(), a.width());
}

void check_same(const char* op, const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) throw ShapeError("{}: {} and {} differ", op, a.shape(), b.shape());
}

Tensor add_row_vector(const Tensor& x, const Tensor& vector) {
  Tensor y = Tensor::like(x);
  kernels::add_row_vector(rows_of(x), vector.data(), mutable_rows_of(y));
  return record(y, {x, vector}, [x, vector](const Tensor& dy, Grads& grads) {
    grads.pass(x, dy);
    if (grads.wants(vector)) {
      const Gradient dv = grads.of(vector);
      kernels::sum_rows(rows_of(dy), dv.data(), dv.add);
    }
  });
}

Tensor multiply_row_vector(const Tensor& x, const Tensor& vector) {
  Tensor y = Tensor::like(x);
  kernels::multiply_row_vector(rows_of(x), vector.data(), mutable_rows_of(y));
  return record(y, {x, vector}, [x, vector](const Tensor& dy, Grads& grads) {
    if (grads.wants(x)) {
      const Gradient dx = grads.of(x);
      kernels::multiply_row_vector(rows_of(dy), vector.data(), mutable_rows_of(dx.tensor), dx.add);
    }
    if (grads.wants(vector)) {
      const Gradient dv = grads.of(vector);
      kernels::multiply_sum_rows(rows_of(dy), rows_of(x), dv.data(), dv.add);
    }
  });
}

}  // namespace

Tensor add(const Tensor& left, const Tensor& right) {
  if (is_row_vector("add", left, right)) return add_row_vector(left, right);
  const Tensor a = contiguous(left), b = contiguous(right);
  Tensor c = Tensor::like(a);
  kernels::add(a.data(), b.data(), c.data(), c.size());
  return record(c, {a, b}, [a, b](const Tensor& dc, Grads& grads) {
    grads.pass(a, dc);
    grads.pass(b, dc);
  });
}

Tensor subtract(const Tensor& left, const Tensor& right) {
  check_same("subtract", left, right);
  const Tensor a = contiguous(left), b = contiguous(right);
  Tensor c = Tensor::like(a);
  kernels::subtract(a.data(), b.data(), c.data(), c.size());
  return record(c, {a, b}, [a, b](const Tensor& dc, Grads& grads) {
    grads.pass(a, dc);
    if (grads.wants(b)) {
      const Gradient db = grads.of(b);
      kernels::scale(-1.0f, dc.data(), db.data(), dc.size(), db.add);
    }
  });
}

Tensor multiply(const Tensor& left, const Tensor& right) {
  if (is_row_vector("multiply", left, right)) return multiply_row_vector(left, right);
  const Tensor a = contiguous(left), b = contiguous(right);
  Tensor c = Tensor::like(a);
  kernels::multiply(a.data(), b.data(), c.data(), c.size());
  return record(c, {a, b}, [a, b](const Tensor& dc, Grads& grads) {
    if (grads.wants(a)) {
      const Gradient da = grads.of(a);
      kernels::multiply(dc.data(), b.data(), da.data(), dc.size(), da.add);
    }
    if (grads.wants(b)) {
      const Gradient db = grads.of(b);
      kernels::multiply(dc.data(), a.data(), db.data(), dc.size(), db.add);
    }
  });
}

Tensor divide(const Tensor& left, const Tensor& right) {
  check_same("divide", left, right);
  const Tensor a = contiguous(left), b = contiguous(right);
  Tensor c = Tensor::like(a);
  kernels::divide(a.data(), b.data(), c.data(), c.size());
  return record(c, {a, b}, [a, b, c = c.detach()](const Tensor& dc, Grads& grads) {
    if (grads.wants(a)) {
      const Gradient da = grads.of(a);
      kernels::divide(dc.data(), b.data(), da.data(), dc.size(), da.add);
    }
    if (grads.wants(b)) {
      const Gradient db = grads.of(b);
      kernels::divide_backward({b.data(), c.data(), dc.data(), db.data(), db.add}, dc.size());
    }
  });
}

Tensor scale(const Tensor& input, float factor) {
  const Tensor x = contiguous(input);
  Tensor y = Tensor::like(x);
  kernels::scale(factor, x.data(), y.data(), x.size());
  return record(y, {x}, [x, factor](const Tensor& dy, Grads& grads) {
    const Gradient dx = grads.of(x);
    kernels::scale(factor, dy.data(), dx.data(), dy.size(), dx.add);
  });
}

Tensor add_scalar(const Tensor& input, float value) {
  const Tensor x = contiguous(input);
  Tensor y = Tensor::like(x);
  kernels::add_scalar(x.data(), value, y.data(), x.size());
  return record(y, {x}, [x](const Tensor& dy, Grads& grads) { grads.pass(x, dy); });
}

Tensor where(const Tensor& mask, const Tensor& left, const Tensor& right) {
  check_same("where", left, right);
  if (mask.dtype() != DType::kInt32 || mask.shape() != left.shape()) {
    throw ShapeError("where: the mask must be int32 of shape {}, not {} {}", left.shape(),
                     mask.dtype() == DType::kInt32 ? "int32" : "float", mask.shape());
  }
  const Tensor a = contiguous(left), b = contiguous(right);
  Tensor c = Tensor::like(a);
  kernels::select(mask.indices(), a.data(), b.data(), c.data(), c.size());
  return record(c, {a, b}, [mask, a, b](const Tensor& dc, Grads& grads) {
    if (grads.wants(a)) {
      const Gradient da = grads.of(a);
      kernels::select(mask.indices(), dc.data(), nullptr, da.data(), dc.size(), da.add);
    }
    if (grads.wants(b)) {
      const Gradient db = grads.of(b);
      kernels::select(mask.indices(), nullptr, dc.data(), db.data(), dc.size(), db.add);
    }
  });
}

}  // namespace attend
