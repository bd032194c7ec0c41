// Batch normalisation: statistics of columns, found over fixed chunks of rows.
#include "attend/kernels/batch_norm.h"

#include <cmath>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/batch_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/column_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

// Three vectors of `width` in a buffer that the calling thread keeps.
struct Vectors {
  float *a, *b, *c;
};

Vectors Scratch(size_t width) {
  thread_local std::vector<float> buffer;
  if (buffer.size() < 3 * width) buffer.resize(3 * width);
  return {buffer.data(), buffer.data() + width, buffer.data() + 2 * width};
}

// y = (x - mean) factor + term, each of them (width).
void Apply(Rows x, const float* mean, const float* factor, const float* term, MutableRows y) {
  const auto op = [](V v, V m, V f, V t) { return hn::MulAdd(hn::Sub(v, m), f, t); };
  parallel_for(x.count, RowGrain(x.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Transform(y.row(i), x.width, op, x.row(i), mean, factor, term);
    }
  });
}

// mean and biased variance of each column, in two passes so that nothing cancels.
void Statistics(Rows x, float* mean, float* variance) {
  const V share = hn::Set(D(), 1.0f / static_cast<float>(x.count));
  const auto scaled = [=](V v) { return hn::Mul(v, share); };
  const float* sums = SumOverRows(x.count, x.width, x.width, [&](size_t i, size_t end, float* own) {
    const auto op = [](V sum, V v) { return hn::Add(sum, v); };
    for (; i < end; ++i) Transform(own, x.width, op, own, x.row(i));
  });
  Transform(mean, x.width, scaled, sums);
  const float* squares =
      SumOverRows(x.count, x.width, x.width, [&](size_t i, size_t end, float* own) {
        const auto op = [](V sum, V v, V m) {
          const V c = hn::Sub(v, m);
          return hn::MulAdd(c, c, sum);
        };
        for (; i < end; ++i) Transform(own, x.width, op, own, x.row(i), mean);
      });
  Transform(variance, x.width, scaled, squares);
}

void Train(Rows x, const BatchNorm& norm, const RunningStatistics* running, MutableRows y,
           float* mean, float* rstd) {
  if (x.count == 0) return;
  const auto [variance, factor, term] = Scratch(x.width);
  Statistics(x, mean, variance);
  const float n = static_cast<float>(x.count);
  for (size_t j = 0; j < x.width; ++j) {
    rstd[j] = 1.0f / std::sqrt(variance[j] + norm.eps);
    factor[j] = norm.gamma != nullptr ? norm.gamma[j] * rstd[j] : rstd[j];
    term[j] = norm.beta != nullptr ? norm.beta[j] : 0.0f;
    if (running != nullptr) {
      const float unbiased = variance[j] * n / (n - 1.0f);
      running->mean[j] += running->momentum * (mean[j] - running->mean[j]);
      running->variance[j] += running->momentum * (unbiased - running->variance[j]);
    }
  }
  Apply(x, mean, factor, term, y);
}

void Infer(Rows x, const BatchNorm& norm, const float* mean, const float* variance, MutableRows y) {
  const auto [unused, factor, term] = Scratch(x.width);
  for (size_t j = 0; j < x.width; ++j) {
    factor[j] = (norm.gamma != nullptr ? norm.gamma[j] : 1.0f) / std::sqrt(variance[j] + norm.eps);
    term[j] = norm.beta != nullptr ? norm.beta[j] : 0.0f;
  }
  Apply(x, mean, factor, term, y);
}

// dx = gamma rstd (dy - mean(dy) - c rstd^2 mean(dy c)), c = x - mean, all means over the rows.
void Backward(Rows x, Rows dy, const float* gamma, const float* mean, const float* rstd,
              const BatchNormGradient& to) {
  const size_t width = x.width;
  const float* sums = SumOverRows(x.count, width, 2 * width, [&](size_t i, size_t end, float* own) {
    const auto plain = [](V sum, V dv) { return hn::Add(sum, dv); };
    const auto weighted = [](V sum, V dv, V v, V m) { return hn::MulAdd(dv, hn::Sub(v, m), sum); };
    for (; i < end; ++i) {
      Transform(own, width, plain, own, dy.row(i));
      Transform(own + width, width, weighted, own + width, dy.row(i), x.row(i), mean);
    }
  });
  const Vectors scratch = Scratch(width);
  float *factor = scratch.a, *constant = scratch.b, *slope = scratch.c;
  const float n = static_cast<float>(x.count);
  for (size_t j = 0; j < width; ++j) {
    const float dbeta = sums[j], dgamma = sums[width + j] * rstd[j];
    factor[j] = gamma != nullptr ? gamma[j] * rstd[j] : rstd[j];
    constant[j] = factor[j] * dbeta / n;
    slope[j] = factor[j] * rstd[j] * dgamma / n;
    if (to.dgamma != nullptr) to.dgamma[j] += dgamma;
    if (to.dbeta != nullptr) to.dbeta[j] += dbeta;
  }
  const auto op = [](V dv, V v, V m, V f, V k, V s) {
    return hn::NegMulAdd(hn::Sub(v, m), s, hn::MulSub(dv, f, k));
  };
  parallel_for(x.count, RowGrain(width), [&](size_t i, size_t end) {
    for (; i < end; ++i) {
      Update(to.dx.row(i), width, to.add, op, dy.row(i), x.row(i), mean, factor, constant, slope);
    }
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Train);
HWY_EXPORT(Infer);
HWY_EXPORT(Backward);

void batch_norm_train(Rows x, const BatchNorm& norm, const RunningStatistics* running,
                      MutableRows y, float* mean, float* rstd) {
  HWY_DYNAMIC_DISPATCH(Train)(x, norm, running, y, mean, rstd);
}

void batch_norm_infer(Rows x, const BatchNorm& norm, const float* mean, const float* variance,
                      MutableRows y) {
  HWY_DYNAMIC_DISPATCH(Infer)(x, norm, mean, variance, y);
}

void batch_norm_backward(Rows x, Rows dy, const float* gamma, const float* mean, const float* rstd,
                         const BatchNormGradient& gradient) {
  HWY_DYNAMIC_DISPATCH(Backward)(x, dy, gamma, mean, rstd, gradient);
}

}  // namespace attend::kernels
#endif
