#include "attend/kernels/word_context.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "attend/base/parallel.h"

// What the SIMD loops are given.
#ifndef ATTEND_KERNELS_WORD_CONTEXT_WINDOW
#define ATTEND_KERNELS_WORD_CONTEXT_WINDOW
namespace attend::kernels {
// scores (m, n) = x y^T for rows that lie anywhere; there is room for a register behind them.
struct WindowProducts {
  const float* const* x;  // m rows
  const float* const* y;  // n rows
  size_t m, n, width;
  float* scores;
};
// c_j (+)= sum over i of g[i stride_i + j stride_j] a_i.
struct SumsOfRows {
  const float* const* a;  // `count` rows
  size_t count;
  const float* g;
  size_t stride_i, stride_j;
  size_t width;
};
}  // namespace attend::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/word_context.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

using D4 = hn::FixedTag<float, 4>;

// The sum of the 4-lane blocks of v.
template <typename DN>
HWY_INLINE hn::Vec<D4> SumOfBlocks(DN /*d*/, hn::Vec<DN> v) {
  if constexpr (hn::MaxLanes(DN()) == 4) {
    return v;
  } else {
    const hn::Half<DN> half;
    return SumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// The sums of all lanes of a, b, c and e.
HWY_INLINE hn::Vec<D4> FourSums(V a, V b, V c, V e) {
  const D d;
  const V ac = hn::Add(hn::InterleaveLower(d, a, c), hn::InterleaveUpper(d, a, c));
  const V be = hn::Add(hn::InterleaveLower(d, b, e), hn::InterleaveUpper(d, b, e));
  return SumOfBlocks(d, hn::Add(hn::InterleaveLower(d, ac, be), hn::InterleaveUpper(d, ac, be)));
}

// With 32 registers, six columns of three rows; otherwise three.
inline constexpr size_t kColumns = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM ? 6 : 3;

// Of rows i .. i + M - 1 and columns j .. j + N - 1.
template <size_t M, size_t N>
HWY_NOINLINE void ProductTile(const WindowProducts& w, size_t i, size_t j) {
  const float* const* x = w.x + i;
  const float* const* y = w.y + j;
  constexpr size_t kSums = (M * N + 3) / 4 * 4;
  V sums[kSums];
  HWY_UNROLL(24)
  for (size_t s = 0; s < kSums; ++s) sums[s] = hn::Zero(D());
  ForLanes(w.width, [&](size_t k, auto lanes) HWY_ATTR {
    V b[N];
    HWY_UNROLL(24)
    for (size_t s = 0; s < N; ++s) b[s] = lanes.Load(y[s] + k);
    HWY_UNROLL(24)
    for (size_t r = 0; r < M; ++r) {
      const V a = lanes.Load(x[r] + k);
      HWY_UNROLL(24)
      for (size_t s = 0; s < N; ++s) sums[r * N + s] = hn::MulAdd(a, b[s], sums[r * N + s]);
    }
  });
  // All columns: rows follow each other, and what is stored too much is overwritten.
  HWY_ALIGN float some[kSums];
  float* const to = N == w.n ? w.scores + i * N : some;
  HWY_UNROLL(24)
  for (size_t s = 0; s < kSums; s += 4) {
    hn::StoreU(FourSums(sums[s], sums[s + 1], sums[s + 2], sums[s + 3]), D4(), to + s);
  }
  if (N == w.n) return;
  HWY_UNROLL(24)
  for (size_t r = 0; r < M; ++r) std::copy_n(some + r * N, N, w.scores + (i + r) * w.n + j);
}

template <size_t N>
HWY_INLINE void ProductColumns(const WindowProducts& w, size_t j) {
  size_t i = 0;
  for (; i + 3 <= w.m; i += 3) ProductTile<3, N>(w, i, j);
  if (w.m - i == 2) ProductTile<2, N>(w, i, j);
  if (w.m - i == 1) ProductTile<1, N>(w, i, j);
}

HWY_INLINE void Products(const WindowProducts& w) {
  size_t j = 0;
  for (; j + kColumns <= w.n; j += kColumns) ProductColumns<kColumns>(w, j);
  switch (w.n - j) {
    case 5:
      return ProductColumns<5>(w, j);
    case 4:
      return ProductColumns<4>(w, j);
    case 3:
      return ProductColumns<3>(w, j);
    case 2:
      return ProductColumns<2>(w, j);
    case 1:
      return ProductColumns<1>(w, j);
    default:
      return;
  }
}

// In place of a score s with sign b: b sigmoid(b s). Returns the sum of b^2 softplus(b s), whose
// logarithms are taken of products: a factor is at most 2.
HWY_NOINLINE float Slopes(float* scores, const float* signs, size_t size) {
  const D d;
  const V one = hn::Set(d, 1.0f), zero = hn::Zero(d);
  V sum = zero, product = one;
  size_t factors = 0;
  ForLanes(size, [&](size_t k, auto lanes) HWY_ATTR {
    const V sign = lanes.Load(signs + k);
    const V t = hn::Mul(sign, lanes.Load(scores + k));
    const V e = Exp(hn::Neg(hn::Abs(t)));
    const V factor = hn::Add(one, e);
    const V large = hn::Div(one, factor);
    const auto negative = hn::Lt(t, zero);
    const V sigmoid = hn::IfThenElse(negative, hn::Mul(e, large), large);
    sum = hn::Add(sum, hn::IfThenElse(negative, zero, t));  // not Max, which may lose a NaN
    product = hn::Mul(product, hn::IfThenElse(hn::Eq(sign, zero), one, factor));
    lanes.Store(hn::Mul(sign, sigmoid), scores + k);
    if (++factors % 64 == 0) {
      sum = hn::Add(sum, Log(product));
      product = one;
    }
  });
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, Log(product))));
}

// N sums of rows at once; B registers of them at a time.
template <size_t N, size_t B, typename Lanes>
HWY_INLINE void SumBlock(const SumsOfRows& s, const float* g, float* const* c, size_t k,
                         Lanes lanes, bool add) {
  const size_t step = hn::Lanes(D());
  V sums[N][B];
  HWY_UNROLL(24)
  for (size_t r = 0; r < N; ++r) {
    HWY_UNROLL(24)
    for (size_t b = 0; b < B; ++b) {
      sums[r][b] = add ? lanes.Load(c[r] + k + b * step) : hn::Zero(D());
    }
  }
  for (size_t i = 0; i < s.count; ++i) {
    V a[B];
    HWY_UNROLL(24)
    for (size_t b = 0; b < B; ++b) a[b] = lanes.Load(s.a[i] + k + b * step);
    HWY_UNROLL(24)
    for (size_t r = 0; r < N; ++r) {
      const V factor = hn::Set(D(), g[i * s.stride_i + r * s.stride_j]);
      HWY_UNROLL(24)
      for (size_t b = 0; b < B; ++b) sums[r][b] = hn::MulAdd(factor, a[b], sums[r][b]);
    }
  }
  HWY_UNROLL(24)
  for (size_t r = 0; r < N; ++r) {
    HWY_UNROLL(24)
    for (size_t b = 0; b < B; ++b) lanes.Store(sums[r][b], c[r] + k + b * step);
  }
}

template <size_t N>
HWY_NOINLINE void SumTile(const SumsOfRows& s, float* const* c, size_t j, bool add) {
  const float* const g = s.g + j * s.stride_j;
  const size_t step = hn::Lanes(D());
  size_t k = 0;
  for (; k + 2 * step <= s.width; k += 2 * step) {
    SumBlock<N, 2>(s, g, c + j, k, AllLanes(), add);
  }
  if (k + step <= s.width) {
    SumBlock<N, 1>(s, g, c + j, k, AllLanes(), add);
    k += step;
  }
  if (k < s.width) SumBlock<N, 1>(s, g, c + j, k, FirstLanes{s.width - k}, add);
}

HWY_INLINE void Sums(const SumsOfRows& s, float* const* c, size_t outputs, bool add) {
  size_t j = 0;
  for (; j + kColumns <= outputs; j += kColumns) SumTile<kColumns>(s, c, j, add);
  switch (outputs - j) {
    case 5:
      return SumTile<5>(s, c, j, add);
    case 4:
      return SumTile<4>(s, c, j, add);
    case 3:
      return SumTile<3>(s, c, j, add);
    case 2:
      return SumTile<2>(s, c, j, add);
    case 1:
      return SumTile<1>(s, c, j, add);
    default:
      return;
  }
}

// y = scale x; or y += scale x where `add`.
HWY_NOINLINE void AddScaled(const float* x, float scale, float* y, size_t width, bool add) {
  const V factor = hn::Set(D(), scale);
  ForLanes(width, [&](size_t i, auto lanes) HWY_ATTR {
    const V base = add ? lanes.Load(y + i) : hn::Zero(D());
    lanes.Store(hn::MulAdd(lanes.Load(x + i), factor, base), y + i);
  });
}

// h = share (x_0 + x_1 + ...).
HWY_NOINLINE void ShareOfSum(const float* const* x, size_t count, float share, float* h,
                             size_t width) {
  const V factor = hn::Set(D(), share);
  ForLanes(width, [&](size_t k, auto lanes) HWY_ATTR {
    V sum = lanes.Load(x[0] + k);
    for (size_t i = 1; i < count; ++i) sum = hn::Add(sum, lanes.Load(x[i] + k));
    lanes.Store(hn::Mul(sum, factor), h + k);
  });
}

// dh = share sum over j of g_j y_j: the gradient of each row of a window that answered as one.
HWY_NOINLINE void GradientOfSum(const SumsOfRows& y, float share, float* dh) {
  const V factor = hn::Set(D(), share);
  ForLanes(y.width, [&](size_t k, auto lanes) HWY_ATTR {
    V sum = hn::Zero(D());
    for (size_t j = 0; j < y.count; ++j) {
      sum = hn::MulAdd(hn::Set(D(), y.g[j]), lanes.Load(y.a[j] + k), sum);
    }
    lanes.Store(hn::Mul(factor, sum), dh + k);
  });
}

// y = the sum of rows, which may be none.
HWY_NOINLINE void SumOf(const float* const* x, size_t count, float* y, size_t width) {
  ForLanes(width, [&](size_t k, auto lanes) HWY_ATTR {
    V sum = hn::Zero(D());
    for (size_t i = 0; i < count; ++i) sum = hn::Add(sum, lanes.Load(x[i] + k));
    lanes.Store(sum, y + k);
  });
}

// A position of a chunk: where its lists begin.
struct WindowPlace {
  size_t m, n;  // rows that answer, or whose sum does; and outputs
  size_t x, y, score;
};

// Memory of a thread.
struct WindowScratch {
  std::vector<WindowPlace> places;
  std::vector<const float*> x, y, h;
  std::vector<float*> dx, dy;
  std::vector<float> scores, signs, sums, d_sums;
};

// Positions [first, last) of all: first all products, then all slopes, then all gradients, so that
// none waits for the one before. What belongs to positions before and after them goes to halos.
class ContextChunk {
 public:
  ContextChunk(const WordContexts& contexts, Rows x, Rows y, float* dx,
               const WordOutputGradients& dy, size_t first, size_t last, float* halo,
               WindowScratch& scratch)
      : c_(contexts),
        x_(x),
        y_(y),
        dx_(dx),
        dy_(dy),
        first_(first),
        last_(last),
        halo_(halo),
        s_(scratch) {}

  WordContextLoss Run() {
    if (dx_ != nullptr && !c_.together) {
      std::fill(dx_ + first_ * x_.width, dx_ + last_ * x_.width, 0.0f);
      std::fill(halo_, halo_ + 2 * c_.reach * x_.width, 0.0f);
    }
    WordContextLoss loss;
    const size_t scores = List(loss);
    for (size_t p = first_; p < last_; ++p) {
      Prefetch(p + 1);
      Multiply(s_.places[p - first_], p);
    }
    loss.sum = double{Slopes(s_.scores.data(), s_.signs.data(), scores)};
    if (dx_ == nullptr) return loss;
    for (size_t p = first_; p < last_; ++p) {
      const WindowPlace& place = s_.places[p - first_];
      c_.together ? SpreadOfSum(place, p) : Spread(place);
    }
    if (c_.together) GatherGradients();
    return loss;
  }

 private:
  // Rows of the table lie anywhere.
  void Prefetch(size_t p) const {
    if (p >= last_) return;
    for (size_t o = c_.first_output[p]; o < c_.first_output[p + 1]; ++o) {
      const float* row = y_.row(static_cast<size_t>(c_.outputs[o]));
      for (size_t i = 0; i < y_.width; i += 16) hwy::Prefetch(row + i);
    }
  }

  float* Gradient(size_t p) const {
    if (p >= first_ && p < last_) return dx_ + p * x_.width;
    return halo_ + (p < first_ ? c_.reach - (first_ - p) : c_.reach + (p - last_)) * x_.width;
  }

  // Makes the lists; returns the number of scores.
  size_t List(WordContextLoss& loss) {
    s_.places.clear();
    s_.x.clear(), s_.dx.clear(), s_.y.clear(), s_.dy.clear(), s_.signs.clear();
    size_t score = 0;
    for (size_t p = first_; p < last_; ++p) {
      WindowPlace place{c_.end[p] - c_.begin[p] - 1, c_.first_output[p + 1] - c_.first_output[p],
                        s_.x.size(), s_.y.size(), score};
      for (size_t q = c_.begin[p]; q < c_.end[p]; ++q) {
        if (q == p) continue;
        s_.x.push_back(x_.row(q));
        if (dx_ != nullptr && !c_.together) s_.dx.push_back(Gradient(q));
      }
      for (size_t o = c_.first_output[p]; o < c_.first_output[p + 1]; ++o) {
        s_.y.push_back(y_.row(static_cast<size_t>(c_.outputs[o])));
        if (dx_ != nullptr && !c_.together) s_.dy.push_back(dy_.rows.row(o));
      }
      const size_t answers = c_.together ? std::min<size_t>(place.m, 1) : place.m;
      const float* const signs = c_.signs.data() + c_.first_output[p];
      for (size_t i = 0; i < answers; ++i) {
        s_.signs.insert(s_.signs.end(), signs, signs + place.n);
      }
      score += answers * place.n;
      if (place.n > 0) loss.count += static_cast<double>(answers);
      s_.places.push_back(place);
    }
    s_.scores.resize(score + hn::Lanes(D()));
    if (c_.together) {
      (dx_ == nullptr ? s_.sums : s_.d_sums).resize(s_.places.size() * x_.width);
    }
    return score;
  }

  // Of the window of position p.
  float* Sum(size_t p) {
    return dx_ == nullptr ? s_.sums.data() + (p - first_) * x_.width : dy_.sums.row(p);
  }
  float* GradientOfSumAt(size_t p) { return s_.d_sums.data() + (p - first_) * x_.width; }
  static float Share(size_t m) { return 1.0f / std::sqrt(static_cast<float>(m)); }

  void Multiply(const WindowPlace& place, size_t p) {
    if (place.m == 0 || place.n == 0) return;
    const float* const* x = s_.x.data() + place.x;
    const float* sum = nullptr;
    if (c_.together) {
      ShareOfSum(x, place.m, Share(place.m), Sum(p), x_.width);
      sum = Sum(p);
      x = &sum;
    }
    Products({x, s_.y.data() + place.y, c_.together ? 1 : place.m, place.n, x_.width,
              s_.scores.data() + place.score});
  }

  void Spread(const WindowPlace& place) {
    float* const* const dy = s_.dy.data() + place.y;
    if (place.m == 0) {
      for (size_t j = 0; j < place.n; ++j) std::fill(dy[j], dy[j] + x_.width, 0.0f);
      return;
    }
    const float* const g = s_.scores.data() + place.score;
    Sums({s_.x.data() + place.x, place.m, g, place.n, 1, x_.width}, dy, place.n, false);
    Sums({s_.y.data() + place.y, place.n, g, 1, place.n, x_.width}, s_.dx.data() + place.x, place.m,
         true);
  }

  void SpreadOfSum(const WindowPlace& place, size_t p) {
    float* const slopes = dy_.slopes + c_.first_output[p];
    if (place.m == 0 || place.n == 0) {
      std::fill(Sum(p), Sum(p) + x_.width, 0.0f);
      std::fill(slopes, slopes + place.n, 0.0f);
      return;
    }
    const float* const g = s_.scores.data() + place.score;
    std::copy_n(g, place.n, slopes);
    GradientOfSum({s_.y.data() + place.y, place.n, g, 1, place.n, x_.width}, Share(place.m),
                  GradientOfSumAt(p));
  }

  // The gradient of each row is the sum of those of the windows that it is in.
  void GatherGradients() {
    const size_t begin = first_ - std::min(first_, c_.reach);
    const size_t end = std::min(last_ + c_.reach, c_.positions());
    for (size_t q = begin; q < end; ++q) {
      s_.x.clear();
      const size_t from = std::max(first_, q - std::min(q, c_.reach));
      for (size_t p = from; p < std::min(last_, q + c_.reach + 1); ++p) {
        if (p == q || q < c_.begin[p] || q >= c_.end[p] || s_.places[p - first_].n == 0) continue;
        s_.x.push_back(GradientOfSumAt(p));
      }
      SumOf(s_.x.data(), s_.x.size(), Gradient(q), x_.width);
    }
  }

  const WordContexts& c_;
  Rows x_, y_;
  float* dx_;
  const WordOutputGradients& dy_;
  size_t first_, last_;
  float* halo_;  // (2 reach, width): positions before, positions after
  WindowScratch& s_;
};

HWY_NOINLINE WordContextLoss RunContextChunk(const WordContexts& contexts, Rows x, Rows y,
                                             float* dx, const WordOutputGradients& dy, size_t first,
                                             size_t last, float* halo) {
  thread_local WindowScratch scratch;
  return ContextChunk(contexts, x, y, dx, dy, first, last, halo, scratch).Run();
}

HWY_NOINLINE void AddRowTo(const float* x, float* y, size_t width) {
  AddScaled(x, 1.0f, y, width, true);
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {
namespace {

HWY_EXPORT(RunContextChunk);
HWY_EXPORT(AddRowTo);

constexpr size_t kPositions = 32;  // of a chunk

}  // namespace

WordContextLoss word_context(const WordContexts& contexts, Rows x, Rows y, float* dx,
                             const WordOutputGradients& dy) {
  thread_local std::vector<WordContextLoss> losses;
  thread_local std::vector<float> halos;
  const size_t positions = contexts.positions(), chunks = chunk_count(positions, kPositions);
  const size_t halo_size = 2 * contexts.reach * x.width;
  losses.assign(chunks, {});
  if (dx != nullptr) halos.resize(chunks * halo_size);
  WordContextLoss* const loss_of = losses.data();
  float* const halo_of = halos.data();
  const auto run = HWY_DYNAMIC_DISPATCH(RunContextChunk);
  parallel_for(positions, kPositions, [&](size_t begin, size_t end) {
    const size_t chunk = begin / kPositions;
    loss_of[chunk] = run(contexts, x, y, dx, dy, begin, end, halo_of + chunk * halo_size);
  });
  WordContextLoss total;
  const auto add_row = HWY_DYNAMIC_DISPATCH(AddRowTo);
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    total.sum += loss_of[chunk].sum;
    total.count += loss_of[chunk].count;
    if (dx == nullptr) continue;
    const float* const halo = halo_of + chunk * halo_size;
    const size_t first = chunk * kPositions, last = std::min(first + kPositions, positions);
    for (size_t k = 0; k < contexts.reach; ++k) {
      if (first + k >= contexts.reach) {
        add_row(halo + k * x.width, dx + (first + k - contexts.reach) * x.width, x.width);
      }
      if (last + k < positions) {
        add_row(halo + (contexts.reach + k) * x.width, dx + (last + k) * x.width, x.width);
      }
    }
  }
  return total;
}

}  // namespace attend::kernels
#endif
