#include "attend/kernels/recall.h"

#include <algorithm>
#include <vector>

#include "attend/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/recall.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

HWY_INLINE const float* RowOf(Matrix x, size_t row) { return x.data + row * x.stride; }
HWY_INLINE float* RowOf(MutableMatrix x, size_t row) { return x.data + row * x.stride; }

// y += w[0] x[0] + ... + w[3] x[3].
HWY_FLATTEN HWY_NOINLINE void AddFour(const float* const* x, const float* w, size_t size,
                                      float* y) {
  const D d;
  const V w0 = hn::Set(d, w[0]), w1 = hn::Set(d, w[1]), w2 = hn::Set(d, w[2]),
          w3 = hn::Set(d, w[3]);
  ForEachRegister(size, [&](auto at, size_t i) HWY_ATTR {
    const V a = hn::MulAdd(w1, at.Load(x[1] + i), hn::Mul(w0, at.Load(x[0] + i)));
    const V b = hn::MulAdd(w3, at.Load(x[3] + i), hn::Mul(w2, at.Load(x[2] + i)));
    at.Store(hn::Add(at.Load(y + i), hn::Add(a, b)), y + i);
  });
}

// y = the sum of w[i] x_i, where x_i is row s of a part of each step.
void AddRows(std::span<const RecallStep> steps, Matrix RecallStep::*part, size_t s, const float* w,
             size_t size, float* y) {
  std::fill_n(y, size, 0.0f);
  size_t i = 0;
  for (; i + 4 <= steps.size(); i += 4) {
    const float* rows[4];
    for (size_t k = 0; k < 4; ++k) rows[k] = RowOf(steps[i + k].*part, s);
    AddFour(rows, w + i, size, y);
  }
  for (; i < steps.size(); ++i) {
    const V factor = hn::Set(D(), w[i]);
    Transform(
        y, size, [factor](V sum, V x) { return hn::MulAdd(factor, x, sum); }, y,
        RowOf(steps[i].*part, s));
  }
}

// x.dy; and dx += w dy unless dx is null.
HWY_FLATTEN HWY_NOINLINE float DotAndAdd(const float* x, const float* dy, float w, size_t size,
                                         float* dx) {
  const V factor = hn::Set(D(), w);
  Accumulator sum;
  ForEachRegisterBy4(size, [&](auto at, size_t i, size_t k) HWY_ATTR {
    const V gradient = at.Load(dy + i);
    sum.part[k] = hn::MulAdd(at.Load(x + i), gradient, sum.part[k]);
    if (dx != nullptr) at.Store(hn::MulAdd(factor, gradient, at.Load(dx + i)), dx + i);
  });
  return sum.Total();
}

// The rows that a score is made of, and their gradients; dk may be null.
struct ScoreRows {
  const float *q, *k, *v;
  float *dq, *dk, *dv;
};

HWY_FLATTEN HWY_NOINLINE void AddScoreGradient(const ScoreRows& x, float ds, size_t size) {
  const V scale = hn::Set(D(), ds);
  ForEachRegister(size, [&](auto at, size_t i) HWY_ATTR {
    const ValueAndSlope tanh = TanhAndSlope(hn::Add(at.Load(x.q + i), at.Load(x.k + i)));
    const V slope = hn::Mul(hn::Mul(scale, at.Load(x.v + i)), tanh.slope);
    at.Store(hn::Add(at.Load(x.dq + i), slope), x.dq + i);
    if (x.dk != nullptr) at.Store(hn::Add(at.Load(x.dk + i), slope), x.dk + i);
    at.Store(hn::MulAdd(scale, tanh.value, at.Load(x.dv + i)), x.dv + i);
  });
}

void Scores(const RecallInputs& in, size_t s, float* scores) {
  const float* q = RowOf(in.q, s);
  for (size_t i = 0; i < in.steps.size(); ++i) {
    scores[i] = Sum(
        in.width, [](V a, V k, V v) { return hn::Mul(v, Tanh(hn::Add(a, k))); }, q,
        RowOf(in.steps[i].key, s), in.vector);
  }
}

void Mixture(const RecallInputs& in, size_t s, const float* weights, float* mixture) {
  AddRows(in.steps, &RecallStep::h, s, weights, in.hidden, mixture);
  AddRows(in.steps, &RecallStep::c, s, weights, in.hidden, mixture + in.hidden);
}

void Backward(const RecallInputs& in, const RecallGradient& gradient, size_t s, float* dscores) {
  const size_t count = in.steps.size();
  const float* const weights = gradient.weights + s * count;
  const float* const dm = RowOf(gradient.dy, s);
  const float* const dn = dm + in.hidden;
  const auto row = [s](MutableMatrix x) { return x.data == nullptr ? nullptr : RowOf(x, s); };
  double mean = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const RecallStep& step = in.steps[i];
    dscores[i] = DotAndAdd(RowOf(step.h, s), dm, weights[i], in.hidden, row(gradient.dh[i])) +
                 DotAndAdd(RowOf(step.c, s), dn, weights[i], in.hidden, row(gradient.dc[i]));
    mean += double{weights[i]} * double{dscores[i]};
  }
  for (size_t i = 0; i < count; ++i) {
    AddScoreGradient({RowOf(in.q, s), RowOf(in.steps[i].key, s), in.vector, RowOf(gradient.dq, s),
                      row(gradient.dkeys[i]), gradient.dvectors + s * in.width},
                     weights[i] * (dscores[i] - static_cast<float>(mean)), in.width);
  }
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {
namespace {

HWY_EXPORT(Scores);
HWY_EXPORT(Mixture);
HWY_EXPORT(Backward);

// Sequences that are some microseconds of work.
size_t grain(const RecallInputs& in) {
  return 1 + 16384 / (in.steps.size() * (in.width + in.hidden) + 1);
}

}  // namespace

void recall_scores(const RecallInputs& in, float* scores) {
  parallel_for(in.sequences, grain(in), [&](size_t begin, size_t end) {
    for (size_t s = begin; s < end; ++s) {
      HWY_DYNAMIC_DISPATCH(Scores)(in, s, scores + s * in.steps.size());
    }
  });
}

void recall_mixtures(const RecallInputs& in, const float* weights, float* mixtures) {
  parallel_for(in.sequences, grain(in), [&](size_t begin, size_t end) {
    for (size_t s = begin; s < end; ++s) {
      HWY_DYNAMIC_DISPATCH(Mixture)
      (in, s, weights + s * in.steps.size(), mixtures + 2 * s * in.hidden);
    }
  });
}

void recall_backward(const RecallInputs& in, const RecallGradient& gradient) {
  parallel_for(in.sequences, grain(in), [&](size_t begin, size_t end) {
    std::vector<float> dscores(in.steps.size());
    for (size_t s = begin; s < end; ++s) {
      HWY_DYNAMIC_DISPATCH(Backward)(in, gradient, s, dscores.data());
    }
  });
}

}  // namespace attend::kernels
#endif
