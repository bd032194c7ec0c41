// Softmax cross-entropy. Forward reads a row for its maximum and, still in the cache, for the sum
// of exponentials; backward reads it once more.
#include "attend/kernels/cross_entropy.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/cross_entropy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

struct Sums {
  float powers;       // sum of e^(x - offset)
  float differences;  // sum of x - offset
};

HWY_FLATTEN HWY_NOINLINE Sums SumRow(const float* x, size_t width, float largest) {
  const V offset = hn::Set(D(), largest);
  Accumulator powers, differences;
  ForEachRegisterBy4(width, [&](auto at, size_t i, size_t k) {
    const V difference = hn::Sub(at.Load(x + i), offset);
    powers.part[k] = hn::Add(powers.part[k], at.Keep(Exp(difference)));
    differences.part[k] = hn::Add(differences.part[k], at.Keep(difference));
  });
  return {powers.Total(), differences.Total()};
}

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

HWY_INLINE float CountImpossible(const float* logits, size_t width) {
  const V impossible = hn::Set(D(), kImpossible), one = hn::Set(D(), 1.0f);
  const auto count = [=](V v) { return hn::IfThenElseZero(hn::Eq(v, impossible), one); };
  return TransformSum(nullptr, width, count, logits);
}

// The mean of x - offset over the classes that can be; `sum` is that over all.
HWY_INLINE float MeanDifference(const float* logits, size_t width, float largest, float sum) {
  if (sum > kImpossible) return sum / static_cast<float>(width);
  const V impossible = hn::Set(D(), kImpossible), offset = hn::Set(D(), largest);
  const auto difference = [=](V v) {
    return hn::IfThenElseZero(hn::Gt(v, impossible), hn::Sub(v, offset));
  };
  return TransformSum(nullptr, width, difference, logits) /
         (static_cast<float>(width) - CountImpossible(logits, width));
}

struct RowLoss {
  float loss, lse;
};

HWY_INLINE RowLoss LossOf(const float* logits, size_t width, int32_t target, float smoothing) {
  const float largest = Largest(logits, width);
  const Sums sums = SumRow(logits, width, largest);
  const float log_sum = std::log(sums.powers);
  if (target == kIgnoredTarget) return {0.0f, largest + log_sum};
  float loss = (1.0f - smoothing) * (log_sum - (logits[target] - largest));
  if (smoothing > 0.0f) {
    loss += smoothing * (log_sum - MeanDifference(logits, width, largest, sums.differences));
  }
  return {loss, largest + log_sum};
}

struct RowGradient {
  float lse, smoothing, scale;
  bool add;
};

// scale (e^(logit - lse) - smoothing / classes), and at the target another -scale (1 - smoothing).
HWY_INLINE void GradientOf(const float* logits, size_t width, int32_t target,
                           const RowGradient& row, float* dlogits) {
  if (target == kIgnoredTarget) {
    if (!row.add) Transform(dlogits, width, [] { return hn::Zero(D()); });
    return;
  }
  const float impossible = row.smoothing > 0.0f ? CountImpossible(logits, width) : 0.0f;
  const V lse = hn::Set(D(), row.lse), scale = hn::Set(D(), row.scale);
  const V shared =
      hn::Set(D(), row.scale * row.smoothing / (static_cast<float>(width) - impossible));
  const auto op = [=](V v) { return hn::MulSub(Exp(hn::Sub(v, lse)), scale, shared); };
  if (impossible == 0.0f) {
    Update(dlogits, width, row.add, op, logits);
  } else {
    const V never = hn::Set(D(), kImpossible);
    const auto possible = [=](V v) { return hn::IfThenElseZero(hn::Gt(v, never), op(v)); };
    Update(dlogits, width, row.add, possible, logits);
  }
  dlogits[target] -= row.scale * (1.0f - row.smoothing);
}

void Forward(Rows logits, const int32_t* targets, float smoothing, float* loss, float* lse) {
  parallel_for(logits.count, RowGrain(logits.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const RowLoss row = LossOf(logits.row(i), logits.width, targets[i], smoothing);
      loss[i] = row.loss;
      lse[i] = row.lse;
    }
  });
}

void Backward(Rows logits, const int32_t* targets, float smoothing,
              const CrossEntropyGradient& gradient) {
  parallel_for(logits.count, RowGrain(logits.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const RowGradient row = {gradient.lse[i], smoothing, gradient.scale[i], gradient.add};
      GradientOf(logits.row(i), logits.width, targets[i], row, gradient.dlogits.row(i));
    }
  });
}

void InPlace(MutableRows logits, const int32_t* targets, float smoothing, float scale, float* loss,
             float* lse) {
  parallel_for(logits.count, RowGrain(logits.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const RowLoss row = LossOf(logits.row(i), logits.width, targets[i], smoothing);
      loss[i] = row.loss;
      lse[i] = row.lse;
      const RowGradient gradient = {row.lse, smoothing, scale, false};
      GradientOf(logits.row(i), logits.width, targets[i], gradient, logits.row(i));
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);
HWY_EXPORT(InPlace);

void cross_entropy(Rows logits, const int32_t* targets, float smoothing, float* loss, float* lse) {
  HWY_DYNAMIC_DISPATCH(Forward)(logits, targets, smoothing, loss, lse);
}

void cross_entropy_backward(Rows logits, const int32_t* targets, float smoothing,
                            const CrossEntropyGradient& gradient) {
  HWY_DYNAMIC_DISPATCH(Backward)(logits, targets, smoothing, gradient);
}

void cross_entropy_in_place(MutableRows logits, const int32_t* targets, float smoothing,
                            float scale, float* loss, float* lse) {
  HWY_DYNAMIC_DISPATCH(InPlace)(logits, targets, smoothing, scale, loss, lse);
}

}  // namespace attend::kernels
#endif
