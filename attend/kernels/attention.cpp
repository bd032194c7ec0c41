// Forward: for a block of rows and a window of keys, scores, weights relative to the largest score
// so far, and the sum of values they weigh; earlier sums are scaled when a larger score appears.
#include "attend/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/kernels/attention_work.h"
#include "attend/kernels/gemm_scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/attention_additive-inl.h"
#include "attend/kernels/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

constexpr size_t kWindow = 512;       // keys at a time: a multiple of a panel and of a mask's tile
constexpr size_t kLongestPart = 480;  // queries that share one packing of the keys

// A panel past each row keeps rows of a window from competing for the same cache sets.
constexpr size_t kScoreStride = kWindow + kPanel;

// One chunk on one thread.
class Forward {
 public:
  Forward(const AttentionSpec& spec, const AttentionInputs& in, MutableMatrix out, float* lse,
          const WeightDropout& dropout)
      : spec_(spec), in_(in), out_(out), lse_(lse), dropout_(dropout) {}

  void Run(const AttentionChunk& chunk) {
    chunk_ = chunk;
    const Keys keys = KeysOf(spec_, chunk);
    const size_t rows = chunk.queries * spec_.group();
    Take(keys.Panels());
    PackKeys(keys.Panels());
    for (size_t first = 0; first < rows; first += kBlockRows) RunBlock({spec_, chunk, first});
  }

 private:
  bool additive() const { return spec_.vector != nullptr; }
  AdditiveBlock Additive() const { return {spec_, in_, chunk_.sequence, chunk_.kv_head}; }

  size_t value_panels() const { return RoundUp(spec_.value_width, kPanel) / kPanel; }

  void Take(Keys keys) {
    const size_t rows = RoundUp(std::min(kBlockRows, chunk_.queries * spec_.group()), kTileRows);
    const size_t widths[] = {
        keys.count() * spec_.width,
        keys.count() * value_panels() * kPanel,
        PackedRows::Floats(spec_.width, rows),
        rows * kScoreStride,
        rows * value_panels() * kPanel,
    };
    size_t total = 0;
    for (const size_t width : widths) total += Pieces::padded(width);
    Pieces pieces(gemm_scratch(Scratch::kAttention, total));
    key_panels_ = pieces.take(widths[0]);
    value_panels_ = pieces.take(widths[1]);
    packed_rows_ = pieces.take(widths[2]);
    scores_ = pieces.take(widths[3]);
    sums_ = pieces.take(widths[4]);
  }

  const float* KeyRow(size_t key) const {
    const size_t row = spec_.k_begin(chunk_.sequence) + key;
    return in_.k.data + row * in_.k.stride + chunk_.kv_head * spec_.width;
  }
  const float* ValueRow(size_t key) const {
    const size_t row = spec_.k_begin(chunk_.sequence) + key;
    return in_.v.data + row * in_.v.stride + chunk_.kv_head * spec_.value_width;
  }

  void PackKeys(Keys keys) {
    bad_ = {};
    keys_ = keys;
    keys_.end = std::min(keys.end, spec_.k_count(chunk_.sequence));
    if (keys_.empty()) return;
    const Matrix k{KeyRow(keys.begin), in_.k.stride, true};
    if (!additive()) {
      PackRight(k, 0, spec_.width, 0, keys_.count(), key_panels_, spec_.width * kPanel);
    }
    const float* v = ValueRow(keys.begin);
    PackPanelsPlain(keys_.count(), v, in_.v.stride, spec_.value_width, value_panels_,
                    keys.count() * kPanel);
    bad_.Collect({v, in_.v.stride}, keys_, spec_.value_width, Values());
  }

  void RunBlock(const RowBlock& block) {
    PackedRows left{};
    if (!additive()) left = PackRows(block, in_.q, spec_.width, packed_rows_);
    Start(block);
    for (size_t begin = RoundDown(block.keys.begin, kWindow); begin < block.keys.end;
         begin += kWindow) {
      RunWindow(block, left, {begin, begin + kWindow});
    }
    Finish(block);
  }

  void Start(const RowBlock& block) {
    for (size_t r = 0; r < block.count; ++r) {
      state_[r] = {kMasked, 0.0f};
      if (spec_.sinks != nullptr) state_[r] = {spec_.sinks[block.rows[r].head], 1.0f};
    }
  }

  void RunWindow(const RowBlock& block, const PackedRows& left, Keys window) {
    const Keys panels = block.keys.And(window);
    if (additive()) {
      Additive().Scores(block, window, scores_, kScoreStride);
    } else {
      MultiplyKeys(block, left, {key_panels_, keys_.begin}, panels, spec_.scale,
                   scores_ + (panels.begin - window.begin), kScoreStride);
    }
    for (size_t t = 0; t < block.tiles.count; ++t) {
      const Keys seen = block.tile_keys[t].And(window);
      if (seen.empty()) continue;
      const bool first = seen.begin == block.tile_keys[t].begin;
      for (size_t r = block.tiles.begin(t); r < block.tiles.begin(t + 1); ++r) {
        float* s = scores_ + r * kScoreStride + seen.begin - window.begin;
        WeighRow(block.rows[r], seen, s, first ? nullptr : SumsOf(r), state_[r]);
        if (dropout_.on()) {
          dropout_.Apply(block.rows[r], window.begin, kWindow, scores_ + r * kScoreStride);
        }
      }
      const Keys real = seen.And({0, keys_.end});
      const size_t row = block.tiles.begin(t);
      const float* weights = scores_ + row * kScoreStride + seen.begin - window.begin;
      MultiplyValues(block, t, weights, kScoreStride, real, Values(), 1.0f, !first,
                     {SumsOf(row), value_panels() * kPanel});
      if (bad_.any()) {
        bad_.Add({spec_, chunk_.sequence}, block, t, weights, kScoreStride, real, 1.0f, sums_);
      }
    }
  }

  ValuePanels Values() const {
    return {value_panels_, keys_.begin, RoundUp(keys_.count(), kPanel) * kPanel, value_panels()};
  }
  float* SumsOf(size_t r) const { return sums_ + r * value_panels() * kPanel; }

  // Scores become weights, not yet divided by their sum.
  void WeighRow(const QueryRow& row, Keys seen, float* s, float* sums, RowState& state) const {
    const ScoreTerms terms{spec_, chunk_.sequence};
    terms.Finish(row, seen, s, nullptr);
    const size_t size = seen.count();
    if (spec_.weighting != FusedWeighting::kSoftmax) {
      return WeighScores(spec_.weighting, 0.0f, s, size);
    }
    const float largest = std::max(state.largest, Largest(s, size));
    const V offset = hn::Set(D(), Finite(largest));
    const float sum = TransformSum(
        s, size, [=](V x) { return Exp(hn::Sub(x, offset)); }, s);
    if (largest > state.largest) {
      const float factor = state.sum == 0.0f ? 0.0f : std::exp(state.largest - largest);
      state.sum *= factor;
      if (sums != nullptr) {
        const V by = hn::Set(D(), factor);
        Transform(
            sums, value_panels() * kPanel, [=](V x) { return hn::Mul(x, by); }, sums);
      }
      state.largest = largest;
    }
    state.sum += sum;
  }

  float* OutOf(const QueryRow& row) const {
    return out_.data + row.row * out_.stride + row.head * spec_.value_width;
  }

  // What weights still have to be multiplied with.
  float Divisor(size_t r) const {
    if (spec_.weighting != FusedWeighting::kSoftmax) return 1.0f;
    return state_[r].sum == 0.0f ? 0.0f : 1.0f / state_[r].sum;
  }

  void Finish(const RowBlock& block) const {
    for (size_t r = 0; r < block.count; ++r) {
      const QueryRow& row = block.rows[r];
      if (row.keys.empty()) {
        std::fill_n(OutOf(row), spec_.value_width, 0.0f);
      } else {
        const V factor = hn::Set(D(), Divisor(r));
        Transform(
            OutOf(row), spec_.value_width, [=](V x) { return hn::Mul(x, factor); }, SumsOf(r));
      }
    }
    if (lse_ == nullptr || spec_.weighting != FusedWeighting::kSoftmax) return;
    HWY_ALIGN float logs[kBlockRows] = {};
    for (size_t r = 0; r < block.count; ++r) logs[r] = state_[r].sum == 0.0f ? 1.0f : state_[r].sum;
    Transform(
        logs, block.count, [](V x) { return Log(x); }, logs);
    for (size_t r = 0; r < block.count; ++r) {
      lse_[block.rows[r].row * spec_.heads + block.rows[r].head] =
          state_[r].sum == 0.0f ? kMasked : state_[r].largest + logs[r];
    }
  }

  const AttentionSpec& spec_;
  const AttentionInputs& in_;
  MutableMatrix out_;
  float* lse_;
  const WeightDropout& dropout_;
  AttentionChunk chunk_{};
  Keys keys_;  // packed
  BadRows bad_;
  float *key_panels_ = nullptr, *value_panels_ = nullptr, *packed_rows_ = nullptr;
  float *scores_ = nullptr, *sums_ = nullptr;  // (rows, kScoreStride), (rows, columns)
  RowState state_[kBlockRows];
};

void AttentionForward(const AttentionSpec& spec, const AttentionInputs& in, MutableMatrix out,
                      float* lse) {
  auto chunks = attention_chunks(spec, kLongestPart);
  std::erase_if(chunks, [&](const AttentionChunk& c) { return has_few_rows(spec, c.sequence); });
  const WeightDropout dropout(spec, longest_keys(spec));
  parallel_for(chunks.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) Forward(spec, in, out, lse, dropout).Run(chunks[i]);
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AttentionForward);

void attention_forward(const AttentionSpec& spec, const AttentionInputs& in, MutableMatrix out,
                       float* lse) {
  std::vector<size_t> few;
  for (size_t s = 0; s < spec.sequences; ++s) {
    if (has_few_rows(spec, s)) few.push_back(s);
  }
  if (!few.empty()) attention_few(spec, in, few, out, lse);
  if (few.size() < spec.sequences) HWY_DYNAMIC_DISPATCH(AttentionForward)(spec, in, out, lse);
}

}  // namespace attend::kernels
#endif
