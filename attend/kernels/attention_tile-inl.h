// Blocks of attention scores: which rows and keys they cover, their products by the micro-kernel of
// gemm.h, and what turns a product into a score; included once for each SIMD target.
#if defined(ATTEND_KERNELS_ATTENTION_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_ATTENTION_TILE_INL_H_
#undef ATTEND_KERNELS_ATTENTION_TILE_INL_H_
#else
#define ATTEND_KERNELS_ATTENTION_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "attend/kernels/attention.h"
#include "attend/kernels/attention_work.h"
#include "attend/kernels/gemm_micro-inl.h"
#include "attend/kernels/loops-inl.h"
#include "attend/kernels/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

constexpr size_t kBlockRows = 192;  // query rows at a time, thirty-two tiles
constexpr float kMasked = -std::numeric_limits<float>::infinity();

// Of the softmax of a row: the largest score so far, and the sum of e^(score - largest).
struct RowState {
  float largest = kMasked, sum = 0.0f;
};

HWY_INLINE float Finite(float largest) { return largest == kMasked ? 0.0f : largest; }

HWY_INLINE size_t RoundDown(size_t x, size_t step) { return x / step * step; }
HWY_INLINE size_t RoundUp(size_t x, size_t step) { return (x + step - 1) / step * step; }

// Keys [begin, end), counted from the start of a sequence.
struct Keys {
  size_t begin = 0, end = 0;
  HWY_INLINE size_t count() const { return end - begin; }
  HWY_INLINE bool empty() const { return begin >= end; }
  HWY_INLINE Keys And(Keys other) const {
    const Keys both{std::max(begin, other.begin), std::min(end, other.end)};
    return both.empty() ? Keys{} : both;
  }
  HWY_INLINE Keys Or(Keys other) const {
    if (empty()) return other;
    if (other.empty()) return *this;
    return {std::min(begin, other.begin), std::max(end, other.end)};
  }
  // Grown to whole panels.
  HWY_INLINE Keys Panels() const {
    return empty() ? Keys{} : Keys{RoundDown(begin, kPanel), RoundUp(end, kPanel)};
  }
};

// All that the queries of a chunk look at.
HWY_INLINE Keys KeysOf(const AttentionSpec& spec, const AttentionChunk& chunk) {
  Keys keys;
  const KeyRange* range = spec.ranges + spec.q_begin(chunk.sequence) + chunk.query;
  for (size_t i = 0; i < chunk.queries; ++i) {
    if (range[i].begin >= range[i].end) continue;
    keys = keys.Or({static_cast<size_t>(range[i].begin), static_cast<size_t>(range[i].end)});
  }
  return keys;
}

// One query of one head.
struct QueryRow {
  size_t row;  // of q
  size_t query, head;
  Keys keys;
  bool blind = true;  // may look at none of these: what the row holds is not read
};

// Whether the table of pairs leaves a row nothing of its range; mostly its first key tells.
HWY_INLINE bool AllMasked(const AttentionSpec& spec, size_t sequence, const QueryRow& row) {
  if (spec.mask.data == nullptr) return row.keys.empty();
  const uint8_t* mask = spec.mask.row(sequence, row.head, row.query);
  return std::all_of(mask + row.keys.begin, mask + row.keys.end, [](uint8_t m) { return m == 0; });
}

// Some rows of a chunk, head after head, and the keys they look at. Tiles are those of the
// micro-kernel.
struct RowBlock {
  RowBlock(const AttentionSpec& spec, const AttentionChunk& chunk, size_t first)
      : RowBlock(spec, chunk, first, std::min(kBlockRows, chunk.queries * spec.group() - first)) {}
  RowBlock(const AttentionSpec& spec, const AttentionChunk& chunk, size_t first, size_t rows_wanted)
      : count(rows_wanted), tiles(count) {
    const size_t q_begin = spec.q_begin(chunk.sequence);
    for (size_t r = 0; r < count; ++r) {
      const size_t query = chunk.query + (first + r) % chunk.queries, row = q_begin + query;
      const KeyRange range = spec.ranges[row];
      rows[r] = {row, query, chunk.kv_head * spec.group() + (first + r) / chunk.queries, {}};
      if (range.begin < range.end) {
        rows[r].keys = {static_cast<size_t>(range.begin), static_cast<size_t>(range.end)};
        rows[r].blind = AllMasked(spec, chunk.sequence, rows[r]);
      }
    }
    for (size_t t = 0; t < tiles.count; ++t) {
      Keys seen;
      for (size_t r = tiles.begin(t); r < tiles.begin(t + 1); ++r) seen = seen.Or(rows[r].keys);
      tile_keys[t] = seen.Panels();
      keys = keys.Or(tile_keys[t]);
    }
  }

  size_t count;
  TileRows tiles;
  QueryRow rows[kBlockRows];
  Keys tile_keys[kBlockRows];  // all that a tile's rows look at, in whole panels
  Keys keys;                   // all that any row does
};

// The left-hand side of products with all keys: the rows of a block, packed in tiles.
struct PackedRows {
  const float* tiles;
  size_t tile_step, size;  // size: of the sum

  static size_t TileStep(size_t size) { return kTileRows * size + kPanel; }
  static size_t Floats(size_t size, size_t rows = kBlockRows) {  // rows: of whole tiles
    return rows / kTileRows * TileStep(size);
  }
};

HWY_INLINE const float* RowOf(const QueryRow& row, const Matrix& x, size_t size) {
  return x.data + row.row * x.stride + row.head * size;
}

// A row that looks at nothing is left out: zeros stand for it.
inline HWY_NOINLINE void PackTile(const RowBlock& block, size_t t, const Matrix& x, size_t size,
                                  float* to) {
  const size_t begin = block.tiles.begin(t), count = block.tiles.begin(t + 1) - begin;
  const float* lines[kTileRows];  // past the last row it is repeated
  for (size_t r = 0; r < kTileRows; ++r) {
    lines[r] = RowOf(block.rows[begin + std::min(r, count - 1)], x, size);
  }
  const size_t next = std::min(block.count, begin + count + kTileRows);
  for (size_t r = begin + count; r < next; ++r) PrefetchRow(RowOf(block.rows[r], x, size), size);
  InterleaveRows(lines, size, to);
  for (size_t r = 0; r < count; ++r) {
    if (!block.rows[begin + r].blind) continue;
    for (size_t i = 0; i < size; ++i) to[i * kTileRows + r] = 0.0f;
  }
}

HWY_INLINE PackedRows PackRows(const RowBlock& block, const Matrix& x, size_t size, float* to) {
  const size_t step = PackedRows::TileStep(size);
  for (size_t t = 0; t < block.tiles.count; ++t) PackTile(block, t, x, size, to + t * step);
  return {to, step, size};
}

// The right-hand side: (panel of keys, size, kPanel), from the key `first` on.
struct KeyPanels {
  const float* panels;
  size_t first;
  HWY_INLINE const float* At(size_t key, size_t size) const {
    return panels + (key - first) * size;
  }
};

// to[r * stride + j - window.begin] = alpha (row r).(key j), for the panels in the window that a
// row's tile looks at.
inline HWY_NOINLINE void MultiplyKeys(const RowBlock& block, const PackedRows& left,
                                      const KeyPanels& right, Keys window, float alpha, float* to,
                                      size_t stride) {
  Operands x{.size = left.size, .a_packed = true, .b_step = kPanel};
  Tile tile{.alpha = alpha, .beta = 0.0f, .bias = nullptr, .to_stride = stride};
  for (size_t key = window.begin; key < window.end; key += kPanel) {
    x.b = right.At(key, left.size);
    for (size_t t = 0; t < block.tiles.count; ++t) {
      const Keys seen = block.tile_keys[t];
      if (key < seen.begin || key >= seen.end) continue;
      const size_t row = block.tiles.begin(t);
      x.a = left.tiles + t * left.tile_step;
      tile.to = to + row * stride + key - window.begin;
      KernelFor(block.tiles.begin(t + 1) - row, 1, x)(x, tile);
    }
  }
}

// A few rows, one after the other, against keys that are read once: these are not packed but used
// as they lie, `keys` of them from the first row of k on. `panel` has room for one panel.
struct FewRows {
  const float* data;
  size_t count, size;
};
HWY_INLINE void CopyRows(const RowBlock& block, const Matrix& x, size_t size, float* to) {
  for (size_t r = 0; r < block.count; ++r) {
    std::copy_n(RowOf(block.rows[r], x, size), size, to + r * size);
  }
}
inline HWY_NOINLINE void MultiplyFewKeys(const FewRows& rows, const Matrix& k, size_t keys,
                                         float alpha, float* panel, float* to, size_t stride) {
  Operands x{.size = rows.size, .a = rows.data, .a_packed = false, .a_stride = rows.size};
  Tile tile{.alpha = alpha, .beta = 0.0f, .bias = nullptr, .to_stride = stride};
  for (size_t key = 0; key < keys; key += kPanel) {
    const size_t left = keys - key;
    const float* first = k.data + key * k.stride;
    x.b_by_columns = left >= kPanel;
    if (x.b_by_columns) {
      x.b = first;
      x.b_step = k.stride;
      for (size_t i = kPanel; i < 2 * kPanel && i < left; ++i) {
        PrefetchRow(first + i * k.stride, rows.size);
      }
    } else {
      PackRight({first, k.stride, true}, 0, rows.size, 0, left, panel, 0);
      x.b = panel;
      x.b_step = kPanel;
    }
    tile.to = to + key;
    KernelFor(rows.count, 1, x)(x, tile);
  }
}

// to (rows of tile t, columns of the panels) = or += weights (rows, keys) x values, for the keys of
// `seen`, the first of which is column 0 of `weights`.
struct ValuePanels {
  const float* panels;  // (panel of columns, keys, kPanel), from the key `first` on
  size_t first, panel_step, count;
};

inline HWY_NOINLINE void MultiplyValues(const RowBlock& block, size_t t, const float* weights,
                                        size_t stride, Keys seen, const ValuePanels& values,
                                        float alpha, bool add, MutableMatrix to) {
  const size_t row = block.tiles.begin(t), rows = block.tiles.begin(t + 1) - row;
  Operands x{
      .size = seen.count(), .a = weights, .a_packed = false, .a_stride = stride, .b_step = kPanel};
  Tile tile{.alpha = alpha,
            .beta = add ? 1.0f : 0.0f,
            .from_stride = to.stride,
            .bias = nullptr,
            .to_stride = to.stride};
  for (size_t p = 0; p < values.count; ++p) {
    x.b = values.panels + p * values.panel_step + (seen.begin - values.first) * kPanel;
    tile.to = to.data + p * kPanel;
    tile.from = tile.to;
    KernelFor(rows, 1, x)(x, tile);
  }
}

// s = cap tanh(s / cap); `slopes`, if not null, gets the derivative.
inline HWY_FLATTEN HWY_NOINLINE void CapScores(float softcap, float* s, float* slopes,
                                               size_t size) {
  const V inverse = hn::Set(D(), 1.0f / softcap), cap = hn::Set(D(), softcap);
  if (slopes == nullptr) {
    return ForEachRegister(size, [&](auto at, size_t i) HWY_ATTR {
      at.Store(hn::Mul(Tanh(hn::Mul(at.Load(s + i), inverse)), cap), s + i);
    });
  }
  ForEachRegister(size, [&](auto at, size_t i) HWY_ATTR {
    const ValueAndSlope tanh = TanhAndSlope(hn::Mul(at.Load(s + i), inverse));
    at.Store(hn::Mul(tanh.value, cap), s + i);
    at.Store(tanh.slope, slopes + i);
  });
}

// What a row needs to know to make scores of products.
struct ScoreTerms {
  const AttentionSpec& spec;
  size_t sequence;

  HWY_INLINE bool plain() const {
    return spec.softcap == 0.0f && spec.bias.data == nullptr && spec.relative.data == nullptr &&
           spec.mask.data == nullptr && spec.inverse_temperature == 1.0f;
  }
  HWY_INLINE const float* RelativeRow(const QueryRow& row) const {
    const auto position = static_cast<ptrdiff_t>(spec.positions[row.row]);
    return spec.relative.data + row.head * spec.relative.size +
           (static_cast<ptrdiff_t>(spec.relative.zero) - position);
  }

  // s holds scaled products for the keys of the window; they become scores, -inf where the row may
  // not look. `slopes`, if not null, gets the derivative of the softcap, if there is one.
  void Finish(const QueryRow& row, Keys window, float* s, float* slopes) const {
    const Keys seen = row.keys.And(window);
    const size_t before = seen.empty() ? window.count() : seen.begin - window.begin;
    std::fill_n(s, before, kMasked);
    if (seen.empty()) return;
    const size_t after = seen.end - window.begin;
    if (!plain()) Transformed(row, seen, s + before, slopes == nullptr ? nullptr : slopes + before);
    std::fill(s + after, s + window.count(), kMasked);
  }

  HWY_NOINLINE void Transformed(const QueryRow& row, Keys seen, float* s, float* slopes) const {
    const size_t size = seen.count();
    if (spec.softcap != 0.0f) CapScores(spec.softcap, s, slopes, size);
    const auto add = [](V x, V bias) { return hn::Add(x, bias); };
    if (spec.relative.data != nullptr) {
      Transform(s, size, add, s, RelativeRow(row) + seen.begin);
    }
    if (spec.bias.data != nullptr) {
      Transform(s, size, add, s, spec.bias.row(sequence, row.head, row.query) + seen.begin);
    }
    if (spec.inverse_temperature != 1.0f) {
      const V factor = hn::Set(D(), spec.inverse_temperature);
      Transform(
          s, size, [=](V x) { return hn::Mul(x, factor); }, s);
    }
    if (spec.mask.data != nullptr) {
      const uint8_t* mask = spec.mask.row(sequence, row.head, row.query) + seen.begin;
      for (size_t j = 0; j < size; ++j) {
        if (mask[j] == 0) s[j] = kMasked;
      }
    }
  }

  // Whether a row may look at a key.
  HWY_INLINE bool Sees(const QueryRow& row, size_t key) const {
    if (key < row.keys.begin || key >= row.keys.end) return false;
    return spec.mask.data == nullptr || spec.mask.row(sequence, row.head, row.query)[key] != 0;
  }
};

// Finished scores of a row to its weights, given their log-sum-exp.
inline HWY_NOINLINE void WeighScores(FusedWeighting weighting, float lse, float* s, size_t size) {
  switch (weighting) {
    case FusedWeighting::kSoftmax: {
      const V offset = hn::Set(D(), lse == kMasked ? 0.0f : lse);
      return Transform(
          s, size, [=](V x) { return Exp(hn::Sub(x, offset)); }, s);
    }
    case FusedWeighting::kSigmoid:
      return Transform(
          s, size, [](V x) { return Sigmoid(x); }, s);
    case FusedWeighting::kRelu:
      return Transform(
          s, size, [](V x) { return AtLeast(0.0f, x); }, s);
  }
}

// Keys or values that hold NaN or infinity. Zeros stand for them in the panels, for a weight of 0
// would not keep them out of a sum; those who may look at them get them added one by one.
class BadRows {
 public:
  bool any() const { return !keys_.empty(); }

  // Finds them in x, whose first row is the key keys.begin, and clears them in the panels.
  void Collect(Matrix x, Keys keys, size_t width, const ValuePanels& panels) {
    x_ = x;
    width_ = width;
    first_ = keys.begin;
    columns_ = panels.count * kPanel;
    for (size_t i = 0; i < keys.count(); ++i) {
      const auto zero_times = [](V v) { return hn::Mul(v, hn::Zero(D())); };
      if (Sum(width, zero_times, x.data + i * x.stride) == 0.0f) continue;
      keys_.push_back(keys.begin + i);
      for (size_t p = 0; p < panels.count; ++p) {
        float* panel = const_cast<float*>(panels.panels) + p * panels.panel_step;
        std::fill_n(panel + i * kPanel, kPanel, 0.0f);
      }
    }
  }

  // to (rows of tile t) += alpha weights x, for the bad keys of `seen`; column 0 of weights is its
  // first key.
  void Add(const ScoreTerms& terms, const RowBlock& block, size_t t, const float* weights,
           size_t stride, Keys seen, float alpha, float* to) const {
    for (const size_t key : keys_) {
      if (key < seen.begin || key >= seen.end) continue;
      for (size_t r = block.tiles.begin(t); r < block.tiles.begin(t + 1); ++r, weights += stride) {
        if (!terms.Sees(block.rows[r], key)) continue;
        const float weight = alpha * weights[key - seen.begin];
        const float* from = x_.data + (key - first_) * x_.stride;
        for (size_t c = 0; c < width_; ++c) to[r * columns_ + c] += weight * from[c];
      }
      weights -= (block.tiles.begin(t + 1) - block.tiles.begin(t)) * stride;
    }
  }

 private:
  Matrix x_{};
  size_t width_ = 0, first_ = 0, columns_ = 0;
  std::vector<size_t> keys_;
};

// Multiplies weights with what dropout leaves of them. The bits of (row, head, key) are its own:
// rows of the mask are as long as the longest sequence, rounded up to whole tiles.
class WeightDropout {
 public:
  WeightDropout(const AttentionSpec& spec, size_t longest)
      : heads_(spec.heads),
        row_tiles_((longest + kMaskTile - 1) / kMaskTile),
        scale_(spec.dropout.chance > 0.0f ? spec.dropout.scale() : 1.0f),
        on_(spec.dropout.chance > 0.0f),
        mask_(spec.dropout) {}

  bool on() const { return on_; }

  // What each weight is multiplied with.
  HWY_INLINE void Factors(const QueryRow& row, size_t first, size_t size, float* to) const {
    std::fill_n(to, RoundUp(size, kMaskTile), 1.0f);
    Apply(row, first, size, to);
  }

  // x[0] is for the key `first`, a multiple of a mask's tile; x has room for whole tiles.
  HWY_NOINLINE void Apply(const QueryRow& row, size_t first, size_t size, float* x) const {
    const MaskD d;
    const auto factor = hn::Set(d, scale_);
    size_t tile = (row.row * heads_ + row.head) * row_tiles_ + first / kMaskTile;
    for (size_t j = 0; j < size; j += kMaskTile, ++tile) {
      float* at_j = x + j;
      mask_.ForTile(tile, [&](size_t at, hn::Mask<MaskD> keep) HWY_ATTR {
        const auto kept = hn::IfThenElseZero(keep, hn::Mul(hn::LoadU(d, at_j + at), factor));
        hn::StoreU(kept, d, at_j + at);
      });
    }
  }

 private:
  size_t heads_, row_tiles_;
  float scale_;
  bool on_;
  KeepMask mask_;
};

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
