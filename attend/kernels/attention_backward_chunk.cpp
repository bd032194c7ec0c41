// One chunk of the gradient: weights are made again from the log-sum-exp, tile by tile. With P the
// weights, D the row sums of dout * out and all products over one block:
//   dV += P^T dO    dP = dO V^T    dS = P (dP - D)    dQ += scale dS K    dK += scale dS^T Q
#include "attend/kernels/attention_backward_chunk.h"

#include <algorithm>
#include <utility>

#include "attend/kernels/gemm_scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/attention_backward_chunk.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/attention_additive-inl.h"
#include "attend/kernels/attention_row_gradient-inl.h"
#include "attend/kernels/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

constexpr size_t kWindow = kGradientWindow;
constexpr size_t kStride = kWindow + kPanel;
// Keys that all rows go through before the next ones come: a bound on the memory they are packed
// in.
constexpr size_t kGroup = 32 * kWindow;

HWY_INLINE size_t Panels(size_t width) { return RoundUp(width, kPanel) / kPanel; }

// The rows of a block as a right-hand side: (panel of columns, row, kPanel).
HWY_NOINLINE void PackRowPanels(const RowBlock& block, const Matrix& x, size_t width, float* to) {
  const D d;
  for (size_t r = 0; r < block.count; ++r) {
    const QueryRow& row = block.rows[r];
    const float* from = x.data + row.row * x.stride + row.head * width;
    for (size_t c = 0; c < width; c += kLanes) {
      float* place = to + c / kPanel * (kBlockRows * kPanel) + r * kPanel + c % kPanel;
      const size_t left = width - c;
      V v = left >= kLanes ? hn::LoadU(d, from + c) : LoadPart(from + c, left);
      if (row.blind) v = hn::Zero(d);
      hn::StoreU(v, d, place);
      if (left <= kLanes && c % kPanel == 0) hn::StoreU(hn::Zero(d), d, place + kLanes);
    }
  }
}

class Backward {
 public:
  Backward(const BackwardInputs& b, const AttentionGradients& grads, const AttentionChunk& chunk,
           const ChunkSums& sums)
      : b_(b), spec_(b.spec), grads_(grads), chunk_(chunk), sums_(sums), row_(b, chunk, sums) {}

  void Run() {
    const size_t rows = chunk_.queries * spec_.group();
    const Keys keys = KeysOf(spec_, chunk_).Panels(), all{0, spec_.k_count(chunk_.sequence)};
    ClearUnseen(keys.And(all), all);
    few_ = rows <= kTileRows;
    Take(std::min(kGroup, keys.count()));
    for (size_t begin = RoundDown(keys.begin, kGroup); begin < keys.end; begin += kGroup) {
      group_ = keys.And({begin, begin + kGroup});
      PackKeys();
      const bool once = rows <= kBlockRows;
      dk_ = StartSums(sums_.dk, spec_.width, once, dk_sums_);
      dv_ = StartSums(sums_.dv, spec_.value_width, once, dv_sums_);
      if (additive()) Clear(dk_, spec_.width);
      for (size_t first = 0; first < rows; first += kBlockRows) RunBlock({spec_, chunk_, first});
      Deliver(dk_, sums_.dk, spec_.width);
      Deliver(dv_, sums_.dv, spec_.value_width);
    }
  }

  bool additive() const { return spec_.vector != nullptr; }
  AdditiveBlock Additive() const { return {spec_, b_.in, chunk_.sequence, chunk_.kv_head}; }

  size_t key_columns() const { return Panels(spec_.width) * kPanel; }
  size_t value_columns() const { return Panels(spec_.value_width) * kPanel; }

 private:
  // The gradient of keys or values, from the first key of the group on.
  struct KeyRows {
    float* data;
    size_t stride;
    bool in_place;  // in the gradient itself
    bool fresh;     // holds nothing yet: is overwritten, once
    HWY_INLINE float* Row(size_t i) const { return data + i * stride; }
  };

  static constexpr size_t kLeftStep = kTileRows * kBlockRows + kPanel;

  void Take(size_t keys) {
    const size_t rows_left = PackedRows::Floats(std::max(spec_.width, spec_.value_width));
    const size_t sizes[] = {keys * spec_.width,
                            keys * key_columns(),
                            keys * spec_.value_width,
                            rows_left,
                            rows_left,
                            kBlockRows * key_columns(),
                            kBlockRows * value_columns(),
                            kBlockRows * kStride,
                            kBlockRows * kStride,
                            (kWindow / kTileRows + 1) * kLeftStep,
                            kBlockRows * key_columns(),
                            keys * key_columns(),
                            keys * value_columns(),
                            additive() ? AdditiveBlock::kKept : 0};
    size_t total = 0;
    for (const size_t size : sizes) total += Pieces::padded(size);
    Pieces pieces(gemm_scratch(Scratch::kAttention, total));
    float** const places[] = {
        &keys_across_, &keys_along_,  &values_across_, &q_tiles_, &dout_tiles_,
        &q_panels_,    &dout_panels_, &weights_,       &dscores_, &turned_,
        &dq_,          &dk_sums_,     &dv_sums_,       &tanhs_};
    for (size_t i = 0; i < std::size(sizes); ++i) *places[i] = pieces.take(sizes[i]);
  }

  // Keys and queries that no one in the chunk looks at or from.
  void ClearUnseen(Keys seen, Keys all) const {
    for (const auto& [to, width] :
         {std::pair(sums_.dk, spec_.width), {sums_.dv, spec_.value_width}}) {
      if (to.data == nullptr || to.add) continue;
      for (size_t key = 0; key < all.end; ++key) {
        if (key < seen.begin || key >= seen.end)
          std::fill_n(to.data + key * to.stride, width, 0.0f);
      }
    }
    const AttentionGradients::Part& dq = grads_.dq;
    if (dq.data == nullptr || dq.add) return;
    for (size_t i = 0; i < chunk_.queries; ++i) {
      const size_t row = spec_.q_begin(chunk_.sequence) + chunk_.query + i;
      if (spec_.ranges[row].begin < spec_.ranges[row].end) continue;
      const size_t width = spec_.group() * spec_.width;
      std::fill_n(dq.data + row * dq.stride + chunk_.kv_head * width, width, 0.0f);
    }
  }

  void PackKeys() {
    bad_ = {};
    keys_ = group_.And({0, spec_.k_count(chunk_.sequence)});
    const size_t row = spec_.k_begin(chunk_.sequence) + keys_.begin, stride = b_.in.k.stride;
    const float* k = b_.in.k.data + row * stride + chunk_.kv_head * spec_.width;
    if (!few_) {
      PackRight({ValueRow(keys_.begin), b_.in.v.stride, true}, 0, spec_.value_width, 0,
                keys_.count(), values_across_, spec_.value_width * kPanel);
    }
    if (additive()) return;
    PackRight({k, stride, true}, 0, spec_.width, 0, keys_.count(), keys_across_,
              spec_.width * kPanel);
    PackPanelsPlain(keys_.count(), k, stride, spec_.width, keys_along_, group_.count() * kPanel);
    bad_.Collect({k, stride}, keys_, spec_.width, KeysAlong());
  }

  const float* ValueRow(size_t key) const {
    const size_t row = spec_.k_begin(chunk_.sequence) + key;
    return b_.in.v.data + row * b_.in.v.stride + chunk_.kv_head * spec_.value_width;
  }

  ValuePanels KeysAlong() const {
    return {keys_along_, keys_.begin, group_.count() * kPanel, Panels(spec_.width)};
  }

  void RunBlock(const RowBlock& block) {
    const Keys keys = block.keys.And(group_);
    if (keys.empty()) return;
    PackedRows q{};
    if (additive()) {
      std::fill_n(dq_, block.count * key_columns(), 0.0f);
    } else {
      q = PackRows(block, b_.in.q, spec_.width, q_tiles_);
      PackRowPanels(block, b_.in.q, spec_.width, q_panels_);
    }
    PackedRows dout{};
    if (few_) {
      CopyRows(block, b_.dout, spec_.value_width, dout_tiles_);
    } else {
      dout = PackRows(block, b_.dout, spec_.value_width, dout_tiles_);
    }
    PackRowPanels(block, b_.dout, spec_.value_width, dout_panels_);
    const bool first = keys.begin == block.keys.begin;
    dq_in_place_ = grads_.dq.data != nullptr && !additive() && !bad_.any() && spec_.group() == 1 &&
                   spec_.width % kPanel == 0 &&
                   block.keys.end <= RoundDown(block.keys.begin, kWindow) + kWindow;
    for (size_t r = 0; r < block.count; ++r) row_.Start(block.rows[r], r, first);
    for (size_t begin = RoundDown(keys.begin, kWindow); begin < keys.end; begin += kWindow) {
      const Keys window{begin, begin + kWindow}, panels = keys.And(window);
      const size_t offset = panels.begin - begin;
      float* kept = additive() && Additive().Keeps(block, panels) ? tanhs_ : nullptr;
      if (additive()) {
        Additive().Scores(block, panels, weights_ + offset, kStride, kept);
      } else {
        MultiplyKeys(block, q, {keys_across_, keys_.begin}, panels, spec_.scale, weights_ + offset,
                     kStride);
      }
      const Keys real = panels.And(keys_);
      if (few_) {
        MultiplyFewKeys({dout_tiles_, block.count, spec_.value_width},
                        {ValueRow(real.begin), b_.in.v.stride}, real.count(), 1.0f, values_across_,
                        dscores_ + offset, kStride);
      } else {
        MultiplyKeys(block, dout, {values_across_, keys_.begin}, panels, 1.0f, dscores_ + offset,
                     kStride);
      }
      for (size_t t = 0; t < block.tiles.count; ++t) RunTile(block, t, window, panels);
      AddTransposed(block, real, weights_ + offset, dout_panels_, 1.0f, dv_,
                    Panels(spec_.value_width));
      if (additive()) {
        Additive().Gradients(
            block, panels, dscores_ + offset, kStride, kept,
            {dq_, dk_.Row(panels.begin - group_.begin), sums_.dvector, key_columns(), dk_.stride});
      } else {
        AddTransposed(block, real, dscores_ + offset, q_panels_, spec_.scale, dk_,
                      Panels(spec_.width));
      }
    }
    for (size_t t = 0; t < block.tiles.count; ++t) DeliverQueries(block, t);
  }

  // The rows of a tile, and what they add to the gradient of their queries.
  void RunTile(const RowBlock& block, size_t t, Keys window, Keys panels) {
    const Keys seen = block.tile_keys[t].And(window);
    const size_t row = block.tiles.begin(t), end = block.tiles.begin(t + 1);
    for (size_t r = row; r < end; ++r) {
      float* p = weights_ + r * kStride;
      float* ds = dscores_ + r * kStride;
      const auto clear = [&](size_t begin, size_t stop) {
        std::fill(p + begin - window.begin, p + stop - window.begin, 0.0f);
        std::fill(ds + begin - window.begin, ds + stop - window.begin, 0.0f);
      };
      if (seen.empty()) {
        clear(panels.begin, panels.end);
        continue;
      }
      clear(panels.begin, seen.begin);
      clear(seen.end, panels.end);
      row_.Run(block.rows[r], r, seen, p + seen.begin - window.begin,
               ds + seen.begin - window.begin);
    }
    if (seen.empty() || additive()) return;
    const bool first = seen.begin == std::max(group_.begin, block.tile_keys[t].begin);
    const Keys real = seen.And({0, keys_.end});
    const float* ds = dscores_ + row * kStride + seen.begin - window.begin;
    MutableMatrix to{dq_ + row * key_columns(), key_columns()};
    if (dq_in_place_) to = {DqOf(block.rows[row]), grads_.dq.stride};
    const bool add = dq_in_place_ ? grads_.dq.add : !first;
    MultiplyValues(block, t, ds, kStride, real, KeysAlong(), spec_.scale, add, to);
    if (bad_.any()) {
      bad_.Add({spec_, chunk_.sequence}, block, t, ds, kStride, real, spec_.scale, dq_);
    }
  }

  // to += alpha x^T y over the rows of the block, for these keys, the first of which is column 0 of
  // x.
  void AddTransposed(const RowBlock& block, Keys keys, const float* x, const float* y, float alpha,
                     const KeyRows& to, size_t columns) {
    const TileRows tiles(keys.count());
    PackLeftTransposed(x, kStride, tiles, block.count, turned_, kLeftStep);
    Operands operands{.a_packed = true, .b_step = kPanel};
    Tile tile{.alpha = alpha,
              .beta = to.fresh ? 0.0f : 1.0f,
              .from_stride = to.stride,
              .bias = nullptr,
              .to_stride = to.stride};
    for (size_t p = 0; p < columns; ++p) {
      for (size_t t = 0; t < tiles.count; ++t) {
        const size_t key = keys.begin + tiles.begin(t), end = keys.begin + tiles.begin(t + 1);
        const auto [first, last] = RowsThatSee(block, {key, end});
        if (first == last && !to.fresh) continue;
        operands.size = last - first;
        operands.a = turned_ + t * kLeftStep + first * kTileRows;
        operands.b = y + p * (kBlockRows * kPanel) + first * kPanel;
        tile.to = to.Row(key - group_.begin) + p * kPanel;
        tile.from = tile.to;
        KernelFor(end - key, 1, operands)(operands, tile);
      }
    }
  }

  struct RowSpan {
    size_t first, last;
  };
  static RowSpan RowsThatSee(const RowBlock& block, Keys keys) {
    size_t t = 0, end = block.tiles.count;
    while (t < end && block.tile_keys[t].And(keys).empty()) ++t;
    while (end > t && block.tile_keys[end - 1].And(keys).empty()) --end;
    return {block.tiles.begin(t), block.tiles.begin(end)};
  }

  float* DqOf(const QueryRow& row) const {
    return grads_.dq.data + row.row * grads_.dq.stride + row.head * spec_.width;
  }

  void DeliverQueries(const RowBlock& block, size_t t) const {
    if (grads_.dq.data == nullptr || dq_in_place_) return;
    if (block.tile_keys[t].And(group_).empty()) return;
    const bool add = grads_.dq.add || block.tile_keys[t].begin < group_.begin;
    for (size_t r = block.tiles.begin(t); r < block.tiles.begin(t + 1); ++r) {
      const QueryRow& row = block.rows[r];
      if (row.keys.empty()) continue;
      Update(
          DqOf(row), spec_.width, add, [](V x) { return x; }, dq_ + r * key_columns());
    }
  }

  // Sums for the keys of this group; or where `once` says that one block has all the rows, and the
  // columns are whole panels, the gradient itself.
  KeyRows StartSums(const AttentionGradients::Part& to, size_t width, bool once, float* scratch) {
    const size_t columns = Panels(width) * kPanel;
    KeyRows sums{scratch, columns, false, once};
    if (once && to.data != nullptr && width == columns) {
      sums = {to.data + keys_.begin * to.stride, to.stride, true, !to.add};
    }
    if (!sums.fresh && !sums.in_place) std::fill_n(scratch, group_.count() * columns, 0.0f);
    return sums;
  }

  // Sums that are not overwritten by products start from zero.
  void Clear(KeyRows& sums, size_t width) const {
    for (size_t i = 0; sums.fresh && i < keys_.count(); ++i) std::fill_n(sums.Row(i), width, 0.0f);
    sums.fresh = false;
  }

  void Deliver(const KeyRows& sums, const AttentionGradients::Part& to, size_t width) const {
    if (to.data == nullptr || sums.in_place) return;
    for (size_t i = 0; i < keys_.count(); ++i) {
      Update(
          to.data + (keys_.begin + i) * to.stride, width, to.add, [](V v) { return v; },
          sums.Row(i));
    }
  }

  const BackwardInputs& b_;
  const AttentionSpec& spec_;
  const AttentionGradients& grads_;
  const AttentionChunk& chunk_;
  const ChunkSums& sums_;
  RowGradients row_;
  bool few_ = false;  // rows: values are not packed for them
  Keys group_;        // of keys, in whole panels
  Keys keys_;         // those of them that exist, packed
  BadRows bad_;
  // Packed: keys and values as columns of products, keys as rows; this block's rows as both.
  float *keys_across_, *values_across_, *keys_along_;
  float *q_tiles_, *dout_tiles_, *q_panels_, *dout_panels_;
  float *weights_, *dscores_;  // (kBlockRows, kStride)
  float *turned_, *dq_;
  float *dk_sums_, *dv_sums_;  // (keys of the group, columns in whole panels)
  KeyRows dk_{}, dv_{};
  float* tanhs_;  // of additive scores
  bool dq_in_place_ =
      false;  // a block in a single window: its rows are made in the gradient itself
};

void DeliverKeys(const KeySums& sums, const AttentionGradients::Part& to, size_t kv_head,
                 size_t width) {
  if (to.data == nullptr) return;
  for (size_t i = 0; i < sums.rows; ++i) {
    float* row = to.data + (sums.row + i) * to.stride + kv_head * width;
    for (size_t part = 0; part < sums.parts; ++part) {
      Update(
          row, width, to.add || part > 0, [](V v) { return v; },
          sums.data + part * sums.part_step + i * width);
    }
  }
}

void BackwardChunk(const BackwardInputs& inputs, const AttentionGradients& grads,
                   const AttentionChunk& chunk, const ChunkSums& sums) {
  Backward(inputs, grads, chunk, sums).Run();
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(BackwardChunk);
HWY_EXPORT(DeliverKeys);

void backward_chunk(const BackwardInputs& inputs, const AttentionGradients& grads,
                    const AttentionChunk& chunk, const ChunkSums& sums) {
  HWY_DYNAMIC_DISPATCH(BackwardChunk)(inputs, grads, chunk, sums);
}

void deliver_keys(const KeySums& sums, const AttentionGradients::Part& to, size_t kv_head,
                  size_t width) {
  HWY_DYNAMIC_DISPATCH(DeliverKeys)(sums, to, kv_head, width);
}

}  // namespace attend::kernels
#endif
