// The gradient of one row of attention weights: from products to weights, from the gradient of
// weights to that of products and biases; included once for each SIMD target.
#if defined(ATTEND_KERNELS_ATTENTION_ROW_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_ATTENTION_ROW_GRADIENT_INL_H_
#undef ATTEND_KERNELS_ATTENTION_ROW_GRADIENT_INL_H_
#else
#define ATTEND_KERNELS_ATTENTION_ROW_GRADIENT_INL_H_
#endif

#include <cmath>

#include "attend/kernels/attention_backward_chunk.h"
#include "attend/kernels/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

constexpr size_t kGradientWindow = 128;  // keys at a time

class RowGradients {
 public:
  RowGradients(const BackwardInputs& b, const AttentionChunk& chunk, const ChunkSums& sums)
      : b_(b), spec_(b.spec), chunk_(chunk), sums_(sums), dropout_(b.spec, b.longest_keys) {}

  // Before row r of a block; `first` is false where the row was met before, with other keys.
  void Start(const QueryRow& row, size_t r, bool first) {
    lse_[r] = b_.lse[row.row * spec_.heads + row.head];
    dot_[r] = 0.0f;
    if (spec_.weighting != FusedWeighting::kSoftmax || row.blind) return;
    const size_t column = row.head * spec_.value_width;
    dot_[r] = Sum(
        spec_.value_width, [](V x, V y) { return hn::Mul(x, y); },
        b_.out.data + row.row * b_.out.stride + column,
        b_.dout.data + row.row * b_.dout.stride + column);
    if (sums_.dsinks != nullptr && first) {
      const float weight = std::exp(spec_.sinks[row.head] - lse_[r]);
      sums_.dsinks[row.head % spec_.group()] -= weight * dot_[r];
    }
  }

  // p: products to weights, as used on values. ds: gradients of those to gradients of the products.
  void Run(const QueryRow& row, size_t r, Keys seen, float* p, float* ds) {
    const ScoreTerms terms{spec_, chunk_.sequence};
    const size_t size = seen.count();
    terms.Finish(row, seen, p, slopes_);
    if (dropout_.on()) {
      dropout_.Factors(row, RoundDown(seen.begin, kGradientWindow), kGradientWindow, factors_);
      Transform(
          ds, size, [](V x, V f) { return hn::Mul(x, f); }, ds,
          factors_ + seen.begin % kGradientWindow);
    }
    WeighRow(r, size, p, ds);
    if (dropout_.on()) {
      Transform(
          p, size, [](V x, V f) { return hn::Mul(x, f); }, p,
          factors_ + seen.begin % kGradientWindow);
    }
    if (!terms.plain()) AddScoreGradients(terms, row, seen, ds);
  }

 private:
  // A weight of 0 passes no gradient, not even an infinite one.
  HWY_NOINLINE void WeighRow(size_t r, size_t size, float* p, float* ds) const {
    if (spec_.weighting == FusedWeighting::kSigmoid) return WeighSigmoidRow(size, p, ds);
    WeighScores(spec_.weighting, lse_[r], p, size);
    const V zero = hn::Zero(D());
    switch (spec_.weighting) {
      case FusedWeighting::kSoftmax: {
        const V dot = hn::Set(D(), dot_[r]);
        return Transform(
            ds, size,
            [=](V w, V dw) {
              return hn::IfThenZeroElse(hn::Eq(w, zero), hn::Mul(w, hn::Sub(dw, dot)));
            },
            p, ds);
      }
      case FusedWeighting::kSigmoid:
        return;
      case FusedWeighting::kRelu:
        return Transform(
            ds, size, [=](V w, V dw) { return hn::IfThenZeroElse(hn::Eq(w, zero), dw); }, p, ds);
    }
  }

  // In one pass, as the slope is not to be had from the weight.
  HWY_FLATTEN HWY_NOINLINE static void WeighSigmoidRow(size_t size, float* p, float* ds) {
    ForEachRegister(size, [&](auto at, size_t i) HWY_ATTR {
      const ValueAndSlope weight = SigmoidAndSlope(at.Load(p + i));
      const auto none = hn::Eq(weight.value, hn::Zero(D()));
      at.Store(weight.value, p + i);
      at.Store(hn::IfThenZeroElse(none, hn::Mul(at.Load(ds + i), weight.slope)), ds + i);
    });
  }

  // From the gradient of scores to that of the products they were made of, and of biases.
  HWY_NOINLINE void AddScoreGradients(const ScoreTerms& terms, const QueryRow& row, Keys panels,
                                      float* ds) const {
    const Keys seen = row.keys.And(panels);
    if (seen.empty()) return;
    const size_t before = seen.begin - panels.begin, size = seen.count();
    ds += before;
    if (spec_.inverse_temperature != 1.0f) {
      const V factor = hn::Set(D(), spec_.inverse_temperature);
      Transform(
          ds, size, [=](V x) { return hn::Mul(x, factor); }, ds);
    }
    const auto add = [size, ds](float* to) {
      Transform(
          to, size, [](V x, V y) { return hn::Add(x, y); }, to, ds);
    };
    if (sums_.dbias.data != nullptr) {
      add(sums_.dbias.row(chunk_.sequence, row.head, row.query) + seen.begin);
    }
    if (sums_.drelative != nullptr) {
      const ptrdiff_t place =
          terms.RelativeRow(row) - spec_.relative.data -
          static_cast<ptrdiff_t>(chunk_.kv_head * spec_.group() * spec_.relative.size);
      add(sums_.drelative + place + seen.begin);
    }
    if (spec_.softcap != 0.0f) {
      // A masked score may be NaN, and its slope with it.
      const auto times = [](V x, V slope) {
        return hn::IfThenZeroElse(hn::Eq(x, hn::Zero(D())), hn::Mul(x, slope));
      };
      Transform(ds, size, times, ds, slopes_ + before);
    }
  }

  const BackwardInputs& b_;
  const AttentionSpec& spec_;
  const AttentionChunk& chunk_;
  const ChunkSums& sums_;
  WeightDropout dropout_;
  float lse_[kBlockRows], dot_[kBlockRows];
  HWY_ALIGN float slopes_[kGradientWindow + kPanel], factors_[kGradientWindow];
};

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
