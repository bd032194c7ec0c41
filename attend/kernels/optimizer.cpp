#include "attend/kernels/optimizer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/kernels/row_sums.h"

// What the SIMD loops of one tensor need, computed in double once.
#ifndef ATTEND_KERNELS_OPTIMIZER_FACTORS
#define ATTEND_KERNELS_OPTIMIZER_FACTORS
namespace attend::kernels {
struct AdamFactors {
  float gradient_scale, l2, shrink;  // g = gradient_scale gradient + l2 p; p = shrink p - ...
  float beta1, one_minus_beta1, beta2, one_minus_beta2;
  float rate, root_scale, epsilon;  // ... rate m / (root_scale sqrt(v) + epsilon)
};
struct SgdFactors {
  float gradient_scale, l2, rate, momentum;
  bool nesterov;
};
}  // namespace attend::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/optimizer.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

HWY_NOINLINE void AdamSpan(const OptimizerTensor& tensor, const AdamFactors& f, size_t begin,
                           size_t end) {
  const D d;
  float* parameter = tensor.parameter + begin;
  const float* gradient = tensor.gradient + begin;
  float *first = tensor.m + begin, *second = tensor.v + begin;
  const V gradient_scale = hn::Set(d, f.gradient_scale), l2 = hn::Set(d, f.l2);
  const V shrink = hn::Set(d, f.shrink), rate = hn::Set(d, f.rate);
  const V beta1 = hn::Set(d, f.beta1), one_minus_beta1 = hn::Set(d, f.one_minus_beta1);
  const V beta2 = hn::Set(d, f.beta2), one_minus_beta2 = hn::Set(d, f.one_minus_beta2);
  const V root_scale = hn::Set(d, f.root_scale), epsilon = hn::Set(d, f.epsilon);
  ForLanes(end - begin, [&](size_t i, auto lanes) HWY_ATTR {
    const V p = lanes.Load(parameter + i);
    const V g = hn::MulAdd(l2, p, hn::Mul(gradient_scale, lanes.Load(gradient + i)));
    const V m = hn::MulAdd(beta1, lanes.Load(first + i), hn::Mul(one_minus_beta1, g));
    const V v = hn::MulAdd(beta2, lanes.Load(second + i), hn::Mul(one_minus_beta2, hn::Mul(g, g)));
    const V step = hn::Div(hn::Mul(rate, m), hn::MulAdd(root_scale, hn::Sqrt(v), epsilon));
    lanes.Store(m, first + i);
    lanes.Store(v, second + i);
    lanes.Store(hn::MulSub(shrink, p, step), parameter + i);
  });
}

HWY_NOINLINE void SgdSpan(const OptimizerTensor& tensor, const SgdFactors& f, size_t begin,
                          size_t end) {
  const D d;
  float* parameter = tensor.parameter + begin;
  const float* gradient = tensor.gradient + begin;
  float* velocity = f.momentum == 0.0f ? nullptr : tensor.m + begin;
  const V gradient_scale = hn::Set(d, f.gradient_scale), l2 = hn::Set(d, f.l2);
  const V rate = hn::Set(d, f.rate), momentum = hn::Set(d, f.momentum);
  ForLanes(end - begin, [&](size_t i, auto lanes) HWY_ATTR {
    const V p = lanes.Load(parameter + i);
    V g = hn::MulAdd(l2, p, hn::Mul(gradient_scale, lanes.Load(gradient + i)));
    if (velocity != nullptr) {
      const V m = hn::MulAdd(momentum, lanes.Load(velocity + i), g);
      lanes.Store(m, velocity + i);
      g = f.nesterov ? hn::MulAdd(momentum, m, g) : m;
    }
    lanes.Store(hn::NegMulAdd(rate, g, p), parameter + i);
  });
}

// The sum of squares of x, in double.
HWY_NOINLINE double SumSquares(const float* x, size_t size) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  const size_t step = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  const auto add = [&](const float* p, auto& sum) HWY_ATTR {
    const auto v = hn::PromoteTo(d, hn::LoadU(half, p));
    sum = hn::MulAdd(v, v, sum);
  };
  size_t i = 0;
  for (; i + 4 * step <= size; i += 4 * step) {
    add(x + i, s0);
    add(x + i + step, s1);
    add(x + i + 2 * step, s2);
    add(x + i + 3 * step, s3);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < size; ++i) sum += double{x[i]} * x[i];
  return sum;
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {
namespace {

HWY_EXPORT(AdamSpan);
HWY_EXPORT(SgdSpan);
HWY_EXPORT(SumSquares);

// All tensors that have a gradient, cut into chunks: tensor t owns chunks first[t] .. first[t + 1]
// - 1. Those of one whose gradient is rows are some rows each. The table's memory is kept from call
// to call.
class Chunks {
 public:
  explicit Chunks(std::span<const OptimizerTensor> tensors) : tensors_(tensors), first_(table()) {
    first_.clear();
    size_t count = 0;
    for (const OptimizerTensor& tensor : tensors) {
      first_.push_back(count);
      if (tensor.rows != nullptr) {
        count += chunk_count(tensor.rows->count(), row_grain(tensor));
      } else if (tensor.gradient != nullptr) {
        count += chunk_count(tensor.size, kSize);
      }
    }
    first_.push_back(count);
  }

  size_t count() const { return first_.back(); }

  // Calls body(chunk, tensor, begin, end) for each chunk, in parallel; for one of rows it does so
  // for each row, with a tensor that is that row.
  template <typename Body>
  void for_each(const Body& body) const {
    parallel_chunks(count(), [&](size_t chunk) {
      const auto after = std::upper_bound(first_.begin(), first_.end(), chunk);
      const size_t t = static_cast<size_t>(after - first_.begin()) - 1;
      const OptimizerTensor& tensor = tensors_[t];
      const size_t grain = tensor.rows == nullptr ? kSize : row_grain(tensor);
      const size_t begin = (chunk - first_[t]) * grain;
      if (tensor.rows == nullptr) {
        return body(chunk, tensor, begin, std::min(begin + grain, tensor.size));
      }
      const size_t end = std::min(begin + grain, tensor.rows->count());
      OptimizerTensor row = tensor;
      for (size_t i = begin; i < end; ++i) {
        go_to_row(tensor, i, row);
        if (i + 2 < end) prefetch_row(tensor, i + 2);
        body(chunk, row, 0, tensor.width);
      }
    });
  }

 private:
  static constexpr size_t kSize = 1 << 15;
  static constexpr size_t kRowsSize = 1 << 14;  // rows lie apart, and take longer

  static size_t row_grain(const OptimizerTensor& tensor) {
    return std::max<size_t>(1, kRowsSize / std::max<size_t>(1, tensor.width));
  }
  static void go_to_row(const OptimizerTensor& tensor, size_t i, OptimizerTensor& row) {
    const size_t at = tensor.rows->row(i) * tensor.width;
    row.parameter = tensor.parameter + at;
    row.gradient = tensor.rows->sum(i);
    if (row.m != nullptr) row.m = tensor.m + at;
    if (row.v != nullptr) row.v = tensor.v + at;
  }
  // Rows lie anywhere.
  static void prefetch_row(const OptimizerTensor& tensor, size_t i) {
    const float* const parameter = tensor.parameter + tensor.rows->row(i) * tensor.width;
    constexpr size_t kLine = 16;  // floats
    for (size_t k = 0; k < tensor.width; k += kLine) hwy::Prefetch(parameter + k);
  }

  static std::vector<size_t>& table() {
    thread_local std::vector<size_t> first;
    return first;
  }

  std::span<const OptimizerTensor> tensors_;
  std::vector<size_t>& first_;
};

// What the first steps lack, as the moments start at zero.
struct Corrections {
  double first, second;

  explicit Corrections(const AdamOptions& options)
      : first(1 - std::pow(options.beta1, static_cast<double>(options.step))),
        second(1 - std::pow(options.beta2, static_cast<double>(options.step))) {}
};

AdamFactors factors_of(const OptimizerTensor& tensor, const AdamOptions& options,
                       const Corrections& corrections) {
  const double rate = options.rate * tensor.rate_scale;
  return {.gradient_scale = options.gradient_scale,
          .l2 = options.decoupled ? 0.0f : tensor.weight_decay,
          .shrink = static_cast<float>(options.decoupled ? 1 - rate * tensor.weight_decay : 1.0),
          .beta1 = static_cast<float>(options.beta1),
          .one_minus_beta1 = static_cast<float>(1 - options.beta1),
          .beta2 = static_cast<float>(options.beta2),
          .one_minus_beta2 = static_cast<float>(1 - options.beta2),
          .rate = static_cast<float>(rate / corrections.first),
          .root_scale = static_cast<float>(1 / std::sqrt(corrections.second)),
          .epsilon = static_cast<float>(options.epsilon)};
}

}  // namespace

void adam(std::span<const OptimizerTensor> tensors, const AdamOptions& options) {
  const auto adam_span = HWY_DYNAMIC_DISPATCH(AdamSpan);
  const Corrections corrections(options);
  Chunks(tensors).for_each([&](size_t, const OptimizerTensor& tensor, size_t begin, size_t end) {
    adam_span(tensor, factors_of(tensor, options, corrections), begin, end);
  });
}

void sgd(std::span<const OptimizerTensor> tensors, const SgdOptions& options) {
  const auto sgd_span = HWY_DYNAMIC_DISPATCH(SgdSpan);
  Chunks(tensors).for_each([&](size_t, const OptimizerTensor& tensor, size_t begin, size_t end) {
    const SgdFactors factors = {.gradient_scale = options.gradient_scale,
                                .l2 = tensor.weight_decay,
                                .rate = static_cast<float>(options.rate * tensor.rate_scale),
                                .momentum = static_cast<float>(options.momentum),
                                .nesterov = options.nesterov};
    sgd_span(tensor, factors, begin, end);
  });
}

double gradient_norm(std::span<const OptimizerTensor> tensors) {
  thread_local std::vector<double> sums;
  const auto sum_squares = HWY_DYNAMIC_DISPATCH(SumSquares);
  const Chunks chunks(tensors);
  sums.assign(chunks.count(), 0.0);
  double* const sum_of = sums.data();
  chunks.for_each([&](size_t chunk, const OptimizerTensor& tensor, size_t begin, size_t end) {
    sum_of[chunk] += sum_squares(tensor.gradient + begin, end - begin);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

float clip_scale(double norm, double limit) {
  // As PyTorch: the small constant keeps the quotient finite.
  return static_cast<float>(std::min(1.0, limit / (norm + 1e-6)));
}

}  // namespace attend::kernels
#endif
