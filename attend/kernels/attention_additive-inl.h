// Additive scores (Bahdanau et al., 2015): the sum of v tanh(q + k) over the width of a head. What
// is summed is never stored: the gradient computes it again. Included once for each SIMD target.
#if defined(ATTEND_KERNELS_ATTENTION_ADDITIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_ATTENTION_ADDITIVE_INL_H_
#undef ATTEND_KERNELS_ATTENTION_ADDITIVE_INL_H_
#else
#define ATTEND_KERNELS_ATTENTION_ADDITIVE_INL_H_
#endif

#include "attend/kernels/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// The rows of one head that are compared.
struct AdditivePair {
  const float *q, *k, *v;
  size_t width;
};

HWY_INLINE float AdditiveScore(const AdditivePair& x) {
  return Sum(
      x.width, [](V q, V k, V v) { return hn::Mul(v, Tanh(hn::Add(q, k))); }, x.q, x.k, x.v);
}

// The same, keeping for AdditiveGradient the hyperbolic tangents, (width), and behind them their
// slopes.
HWY_FLATTEN HWY_NOINLINE inline float AdditiveScore(const AdditivePair& x, float* kept) {
  Accumulator sum;
  ForEachRegisterBy4(x.width, [&](auto at, size_t i, size_t k) HWY_ATTR {
    const ValueAndSlope tanh = TanhAndSlope(hn::Add(at.Load(x.q + i), at.Load(x.k + i)));
    at.Store(tanh.value, kept + i);
    at.Store(tanh.slope, kept + x.width + i);
    sum.part[k] = hn::Add(sum.part[k], at.Keep(hn::Mul(at.Load(x.v + i), tanh.value)));
  });
  return sum.Total();
}

// dq, dk and dv += the gradient of the score, times ds; `kept` may be null.
HWY_FLATTEN HWY_NOINLINE inline void AdditiveGradient(const AdditivePair& x, const float* kept,
                                                      float ds, float* dq, float* dk, float* dv) {
  const V scale = hn::Set(D(), ds);
  const auto add = [&](auto at, size_t i, V tanh, V tanh_slope) HWY_ATTR {
    const V slope = hn::Mul(hn::Mul(scale, at.Load(x.v + i)), tanh_slope);
    at.Store(hn::Add(at.Load(dq + i), slope), dq + i);
    at.Store(hn::Add(at.Load(dk + i), slope), dk + i);
    at.Store(hn::MulAdd(scale, tanh, at.Load(dv + i)), dv + i);
  };
  if (kept != nullptr) {
    return ForEachRegister(x.width, [&](auto at, size_t i) {
      add(at, i, at.Load(kept + i), at.Load(kept + x.width + i));
    });
  }
  ForEachRegister(x.width, [&](auto at, size_t i) {
    const ValueAndSlope tanh = TanhAndSlope(hn::Add(at.Load(x.q + i), at.Load(x.k + i)));
    add(at, i, tanh.value, tanh.slope);
  });
}

// All pairs of a block: what MultiplyKeys and its gradients are for dot products.
struct AdditiveBlock {
  const AttentionSpec& spec;
  const AttentionInputs& in;
  size_t sequence, kv_head;

  HWY_INLINE AdditivePair Pair(const QueryRow& row, size_t key) const {
    return {in.q.data + row.row * in.q.stride + row.head * spec.width,
            in.k.data + (spec.k_begin(sequence) + key) * in.k.stride + kv_head * spec.width,
            spec.vector + row.head * spec.width, spec.width};
  }

  // Hyperbolic tangents and their slopes are kept from the scores to their gradients, where all of
  // a window's fit; else they are computed again.
  static constexpr size_t kKept = 2 * 65536;
  HWY_INLINE bool Keeps(const RowBlock& block, Keys window) const {
    return 2 * block.count * window.count() * spec.width <= kKept;
  }
  HWY_INLINE float* KeptAt(float* kept, size_t r, size_t key, Keys window) const {
    return kept == nullptr ? nullptr
                           : kept + 2 * (r * window.count() + key - window.begin) * spec.width;
  }

  // to[r * stride + j - window.begin] = scale score, for the keys that a row looks at. `kept`, if
  // not null, gets the tangents and slopes.
  void Scores(const RowBlock& block, Keys window, float* to, size_t stride,
              float* kept = nullptr) const {
    for (size_t r = 0; r < block.count; ++r) {
      const Keys seen = block.rows[r].keys.And(window);
      for (size_t key = seen.begin; key < seen.end; ++key) {
        const AdditivePair pair = Pair(block.rows[r], key);
        const float score = kept == nullptr ? AdditiveScore(pair)
                                            : AdditiveScore(pair, KeptAt(kept, r, key, window));
        to[r * stride + key - window.begin] = spec.scale * score;
      }
    }
  }

  // dq (rows, columns), dk (keys of the window, its stride) and dv (group, width) += their
  // gradients.
  struct Sums {
    float *dq, *dk, *dv;
    size_t dq_stride, dk_stride;
  };
  void Gradients(const RowBlock& block, Keys window, const float* ds, size_t stride, float* kept,
                 const Sums& to) const {
    for (size_t r = 0; r < block.count; ++r) {
      const QueryRow& row = block.rows[r];
      const Keys seen = row.keys.And(window);
      for (size_t key = seen.begin; key < seen.end; ++key) {
        const float d = spec.scale * ds[r * stride + key - window.begin];
        if (d == 0.0f) continue;
        AdditiveGradient(Pair(row, key), KeptAt(kept, r, key, window), d, to.dq + r * to.dq_stride,
                         to.dk + (key - window.begin) * to.dk_stride,
                         to.dv + row.head % spec.group() * spec.width);
      }
    }
  }
};

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
