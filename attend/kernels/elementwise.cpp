// Arithmetic on arrays.
#include "attend/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/elementwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

void AddArrays(const float* a, const float* b, float* c, size_t size, bool add) {
  ParallelUpdate(
      c, size, add, [](V x, V y) { return hn::Add(x, y); }, a, b);
}

void SubtractArrays(const float* a, const float* b, float* c, size_t size, bool add) {
  ParallelUpdate(
      c, size, add, [](V x, V y) { return hn::Sub(x, y); }, a, b);
}

void MultiplyArrays(const float* a, const float* b, float* c, size_t size, bool add) {
  ParallelUpdate(
      c, size, add, [](V x, V y) { return hn::Mul(x, y); }, a, b);
}

void DivideArrays(const float* a, const float* b, float* c, size_t size, bool add) {
  ParallelUpdate(
      c, size, add, [](V x, V y) { return hn::Div(x, y); }, a, b);
}

void DivideBackward(const DivideGradient& g, size_t size) {
  const auto op = [](V b, V c, V dc) { return hn::Neg(hn::Div(hn::Mul(dc, c), b)); };
  ParallelUpdate(g.db, size, g.add, op, g.b, g.c, g.dc);
}

void Scale(float a, const float* x, float* y, size_t size, bool add) {
  const V factor = hn::Set(D(), a);
  ParallelUpdate(
      y, size, add, [=](V v) { return hn::Mul(factor, v); }, x);
}

void AddScalar(const float* x, float b, float* y, size_t size, bool add) {
  const V term = hn::Set(D(), b);
  ParallelUpdate(
      y, size, add, [=](V v) { return hn::Add(v, term); }, x);
}

void Fill(float value, float* y, size_t size) {
  const V v = hn::Set(D(), value);
  ParallelUpdate(y, size, false, [=] { return v; });
}

void Copy(const float* x, float* y, size_t size) {
  ParallelUpdate(
      y, size, false, [](V v) { return v; }, x);
}

void CopyRows(Rows x, MutableRows y, bool add) {
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Update(
          y.row(i), x.width, add, [](V v) { return v; }, x.row(i));
    }
  });
}

void Select(const int32_t* mask, const float* a, const float* b, float* y, size_t size, bool add) {
  const auto chosen = [](V m) {
    const hn::RebindToSigned<D> di;
    return hn::RebindMask(D(), hn::Ne(hn::BitCast(di, m), hn::Zero(di)));
  };
  const float* bits = reinterpret_cast<const float*>(mask);  // only ever seen as bits
  if (a == nullptr) {
    const auto op = [=](V m, V v) { return hn::IfThenZeroElse(chosen(m), v); };
    ParallelUpdate(y, size, add, op, bits, b);
  } else if (b == nullptr) {
    const auto op = [=](V m, V v) { return hn::IfThenElseZero(chosen(m), v); };
    ParallelUpdate(y, size, add, op, bits, a);
  } else {
    const auto op = [=](V m, V v, V w) { return hn::IfThenElse(chosen(m), v, w); };
    ParallelUpdate(y, size, add, op, bits, a, b);
  }
}

void AddRowVector(Rows x, const float* vector, MutableRows y, bool add) {
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    const auto op = [](V v, V w) { return hn::Add(v, w); };
    for (size_t i = begin; i < end; ++i) Update(y.row(i), x.width, add, op, x.row(i), vector);
  });
}

void MultiplyRowVector(Rows x, const float* vector, MutableRows y, bool add) {
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    const auto op = [](V v, V w) { return hn::Mul(v, w); };
    for (size_t i = begin; i < end; ++i) Update(y.row(i), x.width, add, op, x.row(i), vector);
  });
}

void MultiplyColumnVector(Rows x, const float* factors, MutableRows y, bool add) {
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const V factor = hn::Set(D(), factors[i]);
      Update(
          y.row(i), x.width, add, [=](V v) { return hn::Mul(v, factor); }, x.row(i));
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AddArrays);
HWY_EXPORT(SubtractArrays);
HWY_EXPORT(MultiplyArrays);
HWY_EXPORT(DivideArrays);
HWY_EXPORT(DivideBackward);
HWY_EXPORT(Scale);
HWY_EXPORT(AddScalar);
HWY_EXPORT(Fill);
HWY_EXPORT(Copy);
HWY_EXPORT(CopyRows);
HWY_EXPORT(Select);
HWY_EXPORT(AddRowVector);
HWY_EXPORT(MultiplyRowVector);
HWY_EXPORT(MultiplyColumnVector);

void add(const float* a, const float* b, float* c, size_t size, bool add) {
  HWY_DYNAMIC_DISPATCH(AddArrays)(a, b, c, size, add);
}

void subtract(const float* a, const float* b, float* c, size_t size, bool add) {
  HWY_DYNAMIC_DISPATCH(SubtractArrays)(a, b, c, size, add);
}

void multiply(const float* a, const float* b, float* c, size_t size, bool add) {
  HWY_DYNAMIC_DISPATCH(MultiplyArrays)(a, b, c, size, add);
}

void divide(const float* a, const float* b, float* c, size_t size, bool add) {
  HWY_DYNAMIC_DISPATCH(DivideArrays)(a, b, c, size, add);
}

void divide_backward(const DivideGradient& gradient, size_t size) {
  HWY_DYNAMIC_DISPATCH(DivideBackward)(gradient, size);
}

void scale(float a, const float* x, float* y, size_t size, bool add) {
  HWY_DYNAMIC_DISPATCH(Scale)(a, x, y, size, add);
}

void add_scalar(const float* x, float b, float* y, size_t size, bool add) {
  HWY_DYNAMIC_DISPATCH(AddScalar)(x, b, y, size, add);
}

void fill(float value, float* y, size_t size) { HWY_DYNAMIC_DISPATCH(Fill)(value, y, size); }

void copy(const float* x, float* y, size_t size) { HWY_DYNAMIC_DISPATCH(Copy)(x, y, size); }

void copy_rows(Rows x, MutableRows y, bool add) { HWY_DYNAMIC_DISPATCH(CopyRows)(x, y, add); }

void select(const int32_t* mask, const float* a, const float* b, float* y, size_t size, bool add) {
  HWY_DYNAMIC_DISPATCH(Select)(mask, a, b, y, size, add);
}

void add_row_vector(Rows x, const float* vector, MutableRows y, bool add) {
  HWY_DYNAMIC_DISPATCH(AddRowVector)(x, vector, y, add);
}

void multiply_row_vector(Rows x, const float* vector, MutableRows y, bool add) {
  HWY_DYNAMIC_DISPATCH(MultiplyRowVector)(x, vector, y, add);
}

void multiply_column_vector(Rows x, const float* factors, MutableRows y, bool add) {
  HWY_DYNAMIC_DISPATCH(MultiplyColumnVector)(x, factors, y, add);
}

}  // namespace attend::kernels
#endif
