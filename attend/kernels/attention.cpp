// Forward: for a block of rows and a window of keys, scores, weights relative to the largest score
// so far, and the sum of values they weigh; earlier sums are scaled when a larger score appears.
#include "attend/kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "attend/base/parallel.h"
#include "attend/kernels/attention_work.h"
#include "attend/kernels/gemm_scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

constexpr size_t kWindow = 256;       // keys at a time: a multiple of a panel and of a mask's tile
constexpr size_t kLongestPart = 480;  // queries that share one packing of the keys

// A float past each row keeps rows of a window from competing for the same cache sets.
constexpr size_t kScoreStride = kWindow + kPanel;

// Largest score so far, and the sum of e^(score - largest).
struct RowState {
  float largest, sum;
};

float Finite(float largest) { return largest == kMasked ? 0.0f : largest; }

// One chunk on one thread.
class Forward {
 public:
  Forward(const AttentionSpec& spec, const AttentionInputs& in, MutableMatrix out, float* lse)
      : spec_(spec), in_(in), out_(out), lse_(lse), dropout_(spec, longest_keys(spec)) {}

  void Run(const AttentionChunk& chunk) {
    chunk_ = chunk;
    const size_t rows = chunk.queries * spec_.group();
    Keys keys;
    for (size_t first = 0; first < rows; first += kBlockRows) {
      keys = keys.Or(RowBlock(spec_, chunk, first).keys);
    }
    Take(keys);
    PackKeys(keys);
    for (size_t first = 0; first < rows; first += kBlockRows) RunBlock({spec_, chunk, first});
  }

 private:
  size_t value_panels() const { return RoundUp(spec_.value_width, kPanel) / kPanel; }

  void Take(Keys keys) {
    const size_t widths[] = {keys.count() * spec_.width, keys.count() * value_panels() * kPanel,
                             PackedRows::Floats(spec_.width), kBlockRows * kScoreStride,
                             kBlockRows * value_panels() * kPanel};
    size_t total = 0;
    for (const size_t width : widths) total += Pieces::padded(width);
    Pieces pieces(gemm_scratch(Scratch::kAttention, total));
    key_panels_ = pieces.take(widths[0]);
    value_panels_ = pieces.take(widths[1]);
    packed_rows_ = pieces.take(widths[2]);
    scores_ = pieces.take(widths[3]);
    sums_ = pieces.take(widths[4]);
  }

  void PackKeys(Keys keys) {
    bad_ = {};
    keys_ = keys;
    keys_.end = std::min(keys.end, spec_.k_count(chunk_.sequence));
    const size_t row = spec_.k_begin(chunk_.sequence) + keys.begin;
    const Matrix k{in_.k.data + row * in_.k.stride + chunk_.kv_head * spec_.width, in_.k.stride,
                   true};
    if (keys_.empty()) return;
    PackRight(k, 0, spec_.width, 0, keys_.count(), key_panels_, spec_.width * kPanel);
    const float* v = in_.v.data + row * in_.v.stride + chunk_.kv_head * spec_.value_width;
    PackPanelsPlain(keys_.count(), v, in_.v.stride, spec_.value_width, value_panels_,
                    keys.count() * kPanel);
    bad_.Collect({v, in_.v.stride}, keys_, spec_.value_width, Values());
  }

  void RunBlock(const RowBlock& block) {
    const PackedRows left = PackRows(block, in_.q, spec_.width, packed_rows_);
    for (size_t r = 0; r < block.count; ++r) {
      state_[r] = {kMasked, 0.0f};
      if (spec_.sinks != nullptr) state_[r] = {spec_.sinks[block.rows[r].head], 1.0f};
    }
    for (size_t begin = RoundDown(block.keys.begin, kWindow); begin < block.keys.end;
         begin += kWindow) {
      RunWindow(block, left, {begin, begin + kWindow});
    }
    for (size_t r = 0; r < block.count; ++r) Finish(block.rows[r], state_[r], r);
  }

  void RunWindow(const RowBlock& block, const PackedRows& left, Keys window) {
    const Keys panels = block.keys.And(window);
    MultiplyKeys(block, left, {key_panels_, keys_.begin}, panels, spec_.scale,
                 scores_ + (panels.begin - window.begin), kScoreStride);
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
      MultiplyValues(block, t, weights, kScoreStride, real, Values(), 1.0f, !first, sums_);
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
    if (spec_.weighting == FusedWeighting::kSigmoid) {
      return Transform(
          s, size, [](V x) { return Sigmoid(x); }, s);
    }
    if (spec_.weighting == FusedWeighting::kRelu) {
      return Transform(
          s, size, [](V x) { return hn::Max(x, hn::Zero(D())); }, s);
    }
    const float largest = std::max(state.largest, Largest(s, size));
    const V offset = hn::Set(D(), Finite(largest));
    const float sum = TransformSum(
        s, size, [=](V x) { return Exp(hn::Sub(x, offset)); }, s);
    if (largest > state.largest) {
      const float factor = std::exp(state.largest - largest);
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

  void Finish(const QueryRow& row, const RowState& state, size_t r) const {
    float* out = out_.data + row.row * out_.stride + row.head * spec_.value_width;
    if (row.keys.empty()) {
      std::fill_n(out, spec_.value_width, 0.0f);
    } else {
      const bool divide = spec_.weighting == FusedWeighting::kSoftmax;
      const V factor = hn::Set(D(), !divide ? 1.0f : state.sum == 0.0f ? 0.0f : 1.0f / state.sum);
      Transform(
          out, spec_.value_width, [=](V x) { return hn::Mul(x, factor); }, SumsOf(r));
    }
    if (lse_ == nullptr) return;
    lse_[row.row * spec_.heads + row.head] =
        state.sum == 0.0f ? kMasked : state.largest + std::log(state.sum);
  }

  const AttentionSpec& spec_;
  const AttentionInputs& in_;
  MutableMatrix out_;
  float* lse_;
  WeightDropout dropout_;
  AttentionChunk chunk_{};
  Keys keys_;  // packed
  BadRows bad_;
  float *key_panels_ = nullptr, *value_panels_ = nullptr, *packed_rows_ = nullptr;
  float *scores_ = nullptr, *sums_ = nullptr;  // (kBlockRows, kScoreStride), (kBlockRows, columns)
  RowState state_[kBlockRows];
};

void AttentionForward(const AttentionSpec& spec, const AttentionInputs& in, MutableMatrix out,
                      float* lse) {
  const auto chunks = attention_chunks(spec, kLongestPart);
  parallel_chunks(chunks.size(), [&](size_t i) { Forward(spec, in, out, lse).Run(chunks[i]); });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AttentionForward);

void attention_forward(const AttentionSpec& spec, const AttentionInputs& in, MutableMatrix out,
                       float* lse) {
  HWY_DYNAMIC_DISPATCH(AttentionForward)(spec, in, out, lse);
}

}  // namespace attend::kernels
#endif
