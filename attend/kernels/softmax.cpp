// Softmax and its logarithm. A row is read three times, from the nearest cache after the first.
#include "attend/kernels/softmax.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

// What is subtracted before the exponential: the largest element, or 0 if that is -inf, so that a
// row of -inf sums to 0 and NaN is not hidden.
HWY_INLINE V Offset(const float* x, size_t width) {
  const float largest = Largest(x, width);
  return hn::Set(D(), largest == -std::numeric_limits<float>::infinity() ? 0.0f : largest);
}

void Softmax(Rows x, MutableRows y) {
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const V offset = Offset(x.row(i), x.width);
      const auto power = [=](V v) { return Exp(hn::Sub(v, offset)); };
      const float sum = TransformSum(y.row(i), x.width, power, x.row(i));
      const V inverse = hn::Set(D(), sum == 0.0f ? 0.0f : 1.0f / sum);
      Transform(
          y.row(i), x.width, [=](V v) { return hn::Mul(v, inverse); }, y.row(i));
    }
  });
}

void SoftmaxBackward(Rows y, Rows dy, MutableRows dx, bool add) {
  parallel_for(y.count, RowGrain(y.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto product = [](V v, V dv) { return hn::Mul(v, dv); };
      const V dot = hn::Set(D(), Sum(y.width, product, y.row(i), dy.row(i)));
      const auto op = [=](V v, V dv) { return hn::Mul(v, hn::Sub(dv, dot)); };
      Update(dx.row(i), y.width, add, op, y.row(i), dy.row(i));
    }
  });
}

void LogSoftmax(Rows x, MutableRows y) {
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const V offset = Offset(x.row(i), x.width);
      const auto power = [=](V v) { return Exp(hn::Sub(v, offset)); };
      const float sum = Sum(x.width, power, x.row(i));
      // Two subtractions: the offset may be large, the logarithm small.
      const V log_sum = hn::Set(D(), sum == 0.0f ? 0.0f : std::log(sum));
      const auto op = [=](V v) { return hn::Sub(hn::Sub(v, offset), log_sum); };
      Transform(y.row(i), x.width, op, x.row(i));
    }
  });
}

void LogSoftmaxBackward(Rows y, Rows dy, MutableRows dx, bool add) {
  parallel_for(y.count, RowGrain(y.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const V sum = hn::Set(D(), Sum(
                                     y.width, [](V dv) { return dv; }, dy.row(i)));
      const auto op = [=](V v, V dv) { return hn::NegMulAdd(Exp(v), sum, dv); };
      Update(dx.row(i), y.width, add, op, y.row(i), dy.row(i));
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Softmax);
HWY_EXPORT(SoftmaxBackward);
HWY_EXPORT(LogSoftmax);
HWY_EXPORT(LogSoftmaxBackward);

void softmax(Rows x, MutableRows y) { HWY_DYNAMIC_DISPATCH(Softmax)(x, y); }

void softmax_backward(Rows y, Rows dy, MutableRows dx, bool add) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackward)(y, dy, dx, add);
}

void log_softmax(Rows x, MutableRows y) { HWY_DYNAMIC_DISPATCH(LogSoftmax)(x, y); }

void log_softmax_backward(Rows y, Rows dy, MutableRows dx, bool add) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxBackward)(y, dy, dx, add);
}

}  // namespace attend::kernels
#endif
