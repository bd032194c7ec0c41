// Forward for a decoder's few rows, whose keys and values are read once: they are not packed but
// used as they lie. All heads take a panel of keys before the next, so that memory is read in its
// own order, and asked for a panel ahead. Keys are cut into parts for the threads (flash-decoding:
// Dao et al., 2023); what the parts give is added up in their order.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/base/storage.h"
#include "attend/kernels/attention_work.h"
#include "attend/kernels/gemm_block.h"
#include "attend/kernels/gemm_scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/attention_few.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/attention_additive-inl.h"
#include "attend/kernels/attention_few-inl.h"
#include "attend/kernels/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

constexpr size_t kPart = 256;               // keys
constexpr size_t kStride = kPart + kPanel;  // of scores: not a power of two, for the cache's sake
constexpr size_t kEnoughTasks = 8;          // for the threads to share
constexpr size_t kEnoughStretches = 32;     // likewise, of tasks that follow one another in memory
constexpr size_t kSmallTask = size_t{1} << 15;  // floats of keys and values not worth a thread

// What a part of the keys gives each row of its sequence: the rows of a head lie together.
struct Partial {
  RowState* states;  // (rows)
  float* sums;       // (rows, value width): values by their weights, not yet divided by the sum
};

// A sequence, and how its keys are cut.
struct FewQueries {
  size_t sequence, queries;
  Keys keys;
  size_t parts, first_part;  // counted over all sequences
};

// Some heads of one part.
struct FewTask {
  const FewQueries& of;
  Keys keys;
  size_t head, heads;  // key heads
  Partial to;
};

// One task on one thread.
class FewPart {
 public:
  FewPart(const AttentionSpec& spec, const AttentionInputs& in, const FewTask& task)
      : spec_(spec), in_(in), task_(task), rows_(task.of.queries * spec.group()) {
    const size_t rows = task.heads * rows_;
    const size_t widths[] = {rows * spec.width, rows * kStride, spec.width * kPanel};
    size_t total = 0;
    for (const size_t width : widths) total += Pieces::padded(width);
    Pieces pieces(gemm_scratch(Scratch::kAttention, total));
    queries_ = pieces.take(widths[0]);
    scores_ = pieces.take(widths[1]);
    panel_ = pieces.take(widths[2]);
  }

  // `after`: rows that this thread reads next.
  void Run(Ahead after) {
    if (spec_.vector != nullptr) {
      AdditiveScores();
    } else {
      CopyQueries();
      for (size_t key = task_.keys.begin; key < task_.keys.end; key += kPanel) DotScores(key);
    }
    for (size_t r = 0; r < task_.heads * rows_; ++r) Weigh(r);
    for (size_t key = task_.keys.begin; key < task_.keys.end; key += kPanel) AddValues(key, after);
  }

 private:
  QueryRow RowAt(size_t r) const {  // of the task
    const size_t query = r % task_.of.queries;
    const size_t head = task_.head * spec_.group() + r / task_.of.queries;
    return {spec_.q_begin(task_.of.sequence) + query, query, head, task_.of.keys, false};
  }
  const float* KeyRow(size_t key) const {
    return in_.k.data + (spec_.k_begin(task_.of.sequence) + key) * in_.k.stride +
           task_.head * spec_.width;
  }
  const float* ValueRow(size_t key) const {
    return in_.v.data + (spec_.k_begin(task_.of.sequence) + key) * in_.v.stride +
           task_.head * spec_.value_width;
  }
  float* ScoresOf(size_t r) const { return scores_ + r * kStride; }
  size_t FirstRow() const { return task_.head * rows_; }  // of the task in its sequence

  void CopyQueries() {
    for (size_t r = 0; r < task_.heads * rows_; ++r) {
      std::copy_n(RowOf(RowAt(r), in_.q, spec_.width), spec_.width, queries_ + r * spec_.width);
    }
  }

  // Scores of one panel of keys, or what is left of it. The values follow the last of them.
  void DotScores(size_t key) {
    const size_t left = std::min(kPanel, task_.keys.end - key);
    const Keys next = task_.keys.And({key + kPanel, key + 2 * kPanel});
    Ahead ahead = next.empty() ? ValuesAhead(task_.keys.begin) : KeysAhead(next);
    for (size_t h = 0; h < task_.heads; ++h) DotOneHead(h, key, left, ahead);
  }

  Ahead KeysAhead(Keys next) const {
    return {KeyRow(next.begin), in_.k.stride, next.count(), task_.heads, spec_.width};
  }
  Ahead ValuesAhead(size_t key) const {
    const size_t count = std::min(kPanel, task_.keys.end - key);
    return {ValueRow(key), in_.v.stride, count, task_.heads, spec_.value_width};
  }

  void DotOneHead(size_t h, size_t key, size_t left, Ahead& ahead) {
    const float* q = queries_ + h * rows_ * spec_.width;
    const Matrix k{KeyRow(key) + h * spec_.width, in_.k.stride};
    float* to = ScoresOf(h * rows_) + (key - task_.keys.begin);
    if (rows_ > std::size(kDotKeys) || spec_.width % kLanes != 0) {
      for (size_t i = 0; i < kPanel; ++i) ahead.Ask();
      return MultiplyFewKeys({q, rows_, spec_.width}, k, left, spec_.scale, panel_, to, kStride);
    }
    DotKernelFor(rows_, spec_.width)(q, spec_.width, k, left, spec_.scale, to, kStride, ahead);
  }

  void AdditiveScores() {
    for (size_t r = 0; r < task_.heads * rows_; ++r) {
      const QueryRow row = RowAt(r);
      const AdditiveBlock block{spec_, in_, task_.of.sequence, row.head / spec_.group()};
      for (size_t key = task_.keys.begin; key < task_.keys.end; ++key) {
        ScoresOf(r)[key - task_.keys.begin] = spec_.scale * AdditiveScore(block.Pair(row, key));
      }
    }
  }

  // Scores become weights, not yet divided by their sum.
  void Weigh(size_t r) {
    float* s = ScoresOf(r);
    const size_t size = task_.keys.count();
    ScoreTerms{spec_, task_.of.sequence}.Finish(RowAt(r), task_.keys, s, nullptr);
    if (spec_.weighting != FusedWeighting::kSoftmax) {
      return WeighScores(spec_.weighting, 0.0f, s, size);
    }
    RowState& state = task_.to.states[FirstRow() + r];
    state.largest = std::max(kMasked, Largest(s, size));
    const V offset = hn::Set(D(), Finite(state.largest));
    state.sum = TransformSum(
        s, size, [=](V x) { return Exp(hn::Sub(x, offset)); }, s);
  }

  // The values of a panel's worth of keys.
  void AddValues(size_t key, Ahead& after) {
    const size_t asked = after.rows == 0 ? 0 : kPanel * kPanel / task_.keys.count() + 1;
    const Keys now = task_.keys.And({key, key + kPanel});
    const size_t panels = spec_.value_width / kPanel;
    Operands x{.size = now.count(),
               .a_packed = false,
               .a_stride = kStride,
               .b_step = in_.v.stride,
               .panel_step = kPanel,
               .b_by_columns = false};
    Tile tile{.alpha = 1.0f,
              .beta = key == task_.keys.begin ? 0.0f : 1.0f,
              .from_stride = spec_.value_width,
              .bias = nullptr,
              .to_stride = spec_.value_width};
    for (size_t h = 0; h < task_.heads; ++h) {
      for (size_t i = 0; i < asked; ++i) after.Ask();
      x.a = ScoresOf(h * rows_) + (key - task_.keys.begin);
      float* sums = task_.to.sums + (FirstRow() + h * rows_) * spec_.value_width;
      for (size_t p = 0; p < panels;) {
        const size_t wide = PanelsAtOnce(rows_, panels - p);
        x.b = ValueRow(key) + h * spec_.value_width + p * kPanel;
        tile.to = sums + p * kPanel;
        tile.from = tile.to;
        KernelFor(rows_, wide, x)(x, tile);
        p += wide;
      }
    }
  }

  const AttentionSpec& spec_;
  const AttentionInputs& in_;
  const FewTask& task_;
  size_t rows_;  // of one key head
  float *queries_, *scores_, *panel_;
};

// Partials of all sequences, and what becomes of them.
class FewForward {
 public:
  FewForward(const AttentionSpec& spec, const AttentionInputs& in, std::span<const size_t> few,
             MutableMatrix out, float* lse)
      : spec_(spec), in_(in), out_(out), lse_(lse) {
    size_t most_rows = 0;
    for (const size_t s : few) {
      const Keys keys = KeysOf(spec, {s, 0, 0, spec.q_count(s)});
      const size_t parts = (keys.count() + kPart - 1) / kPart;
      of_.push_back({s, spec.q_count(s), keys, parts, parts_});
      parts_ += parts;
      floats_ += keys.count() * spec.kv_heads * (spec.width + spec.value_width);
      most_rows = std::max(most_rows, spec.q_count(s) * spec.heads);
    }
    state_step_ = most_rows;
    sum_step_ = most_rows * spec.value_width;
    states_.resize(parts_ * state_step_);
    sums_ = std::make_unique<Storage>(parts_ * sum_step_ * sizeof(float));
  }

  void Run() {
    const bool share = !runs_alone() && floats_ >= kSmallTask;
    const size_t groups =
        share ? std::clamp<size_t>((kEnoughTasks + parts_ - 1) / parts_, 1, spec_.kv_heads) : 1;
    const size_t tasks = parts_ * groups;
    const size_t grain = std::max(kSmallTask * tasks / (floats_ + 1) + 1, tasks / kEnoughStretches);
    parallel_for(tasks, grain, [&](size_t begin, size_t end) {
      for (size_t task = begin; task < end; ++task) {
        const FewTask now = TaskAt(task, groups);
        const Ahead after = task + 1 < end && spec_.vector == nullptr
                                ? FirstKeys(TaskAt(task + 1, groups))
                                : Ahead{};
        FewPart(spec_, in_, now).Run(after);
        if (now.of.parts == 1) FinishHeads(now.of, now.head, now.heads);
      }
    });
    for (const FewQueries& of : of_) {
      if (of.parts > 1) FinishHeads(of, 0, spec_.kv_heads);
    }
  }

 private:
  Partial PartialOf(size_t part) {
    return {states_.data() + part * state_step_,
            static_cast<float*>(sums_->data()) + part * sum_step_};
  }

  FewTask TaskAt(size_t task, size_t groups) {
    const size_t part = task / groups, group = task % groups;
    const auto next = std::ranges::upper_bound(of_, part, {}, &FewQueries::first_part);
    const FewQueries& of = *std::prev(next);
    const size_t begin = of.keys.begin + (part - of.first_part) * kPart;
    const size_t head = spec_.kv_heads * group / groups;
    return {of, of.keys.And({begin, begin + kPart}), head,
            spec_.kv_heads * (group + 1) / groups - head, PartialOf(part)};
  }

  // The first panel of a task's keys.
  Ahead FirstKeys(const FewTask& task) const {
    const Keys keys = task.keys.And({task.keys.begin, task.keys.begin + kPanel});
    const size_t row = spec_.k_begin(task.of.sequence) + keys.begin;
    return {in_.k.data + row * in_.k.stride + task.head * spec_.width, in_.k.stride, keys.count(),
            task.heads, spec_.width};
  }

  void FinishHeads(const FewQueries& of, size_t head, size_t heads) {  // key heads
    const size_t rows = of.queries * spec_.group();
    for (size_t r = head * rows; r < (head + heads) * rows; ++r) Finish(of, r);
  }

  // Adds up what the parts gave row r of a sequence.
  void Finish(const FewQueries& of, size_t r) {
    const size_t width = spec_.value_width, head = r / of.queries;
    const size_t row = spec_.q_begin(of.sequence) + r % of.queries;
    const bool softmax = spec_.weighting == FusedWeighting::kSoftmax;
    RowState all;
    if (spec_.sinks != nullptr && softmax) all = {spec_.sinks[head], 1.0f};
    for (size_t p = 0; p < of.parts && softmax; ++p) {
      const RowState part = PartialOf(of.first_part + p).states[r];
      const float largest = std::max(all.largest, part.largest);
      all.sum = all.sum * Factor(all.largest, largest) + part.sum * Factor(part.largest, largest);
      all.largest = largest;
    }
    const float divisor = all.sum == 0.0f ? 0.0f : 1.0f / all.sum;
    float* out = out_.data + row * out_.stride + head * width;
    for (size_t p = 0; p < of.parts; ++p) {
      const Partial part = PartialOf(of.first_part + p);
      const V factor =
          hn::Set(D(), softmax ? Factor(part.states[r].largest, all.largest) * divisor : 1.0f);
      const float* sums = part.sums + r * width;
      if (p == 0) {
        Transform(
            out, width, [=](V x) { return hn::Mul(x, factor); }, sums);
      } else {
        Transform(
            out, width, [=](V x, V y) { return hn::MulAdd(x, factor, y); }, sums, out);
      }
    }
    if (lse_ == nullptr || !softmax) return;
    float log = all.sum == 0.0f ? 1.0f : all.sum;
    Transform(
        &log, 1, [](V x) { return Log(x); }, &log);
    lse_[row * spec_.heads + head] = all.sum == 0.0f ? kMasked : all.largest + log;
  }

  // What a sum relative to one largest score is multiplied with to be relative to a larger one.
  static float Factor(float largest, float larger) {
    return largest == larger ? 1.0f : std::exp(largest - larger);
  }

  const AttentionSpec& spec_;
  const AttentionInputs& in_;
  MutableMatrix out_;
  float* lse_;
  std::vector<FewQueries> of_;
  size_t parts_ = 0, floats_ = 0, state_step_ = 0, sum_step_ = 0;
  std::vector<RowState> states_;
  std::unique_ptr<Storage> sums_;
};

void AttentionFew(const AttentionSpec& spec, const AttentionInputs& in,
                  std::span<const size_t> sequences, MutableMatrix out, float* lse) {
  FewForward(spec, in, sequences, out, lse).Run();
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(AttentionFew);

bool has_few_rows(const AttentionSpec& spec, size_t sequence) {
  const size_t queries = spec.q_count(sequence);
  if (queries == 0 || queries * spec.group() > kTileRows) return false;
  if (spec.mask.data != nullptr || spec.dropout.chance > 0.0f) return false;
  if (spec.value_width % panel_width() != 0) return false;
  const KeyRange* range = spec.ranges + spec.q_begin(sequence);
  return range->begin < range->end && std::all_of(range, range + queries, [&](KeyRange r) {
           return r.begin == range->begin && r.end == range->end;
         });
}

void attention_few(const AttentionSpec& spec, const AttentionInputs& in,
                   std::span<const size_t> sequences, MutableMatrix out, float* lse) {
  HWY_DYNAMIC_DISPATCH(AttentionFew)(spec, in, sequences, out, lse);
}

}  // namespace attend::kernels
#endif
