// Weights and scores for the eye: made again as the forward made them, for the rows asked for.
#include <algorithm>

#include "attend/base/parallel.h"
#include "attend/base/storage.h"
#include "attend/kernels/attention.h"
#include "attend/kernels/attention_work.h"
#include "attend/kernels/gemm_scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/attention_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/attention_additive-inl.h"
#include "attend/kernels/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

constexpr size_t kWindow = 256;
constexpr size_t kStride = kWindow + kPanel;

// Scores of the rows of a block for all keys, into to (rows, keys); weights if lse is not null.
void RunBlock(const AttentionSpec& spec, const AttentionInputs& in, const float* lse,
              const RowBlock& block, size_t sequence, const float* panels, float* to) {
  const size_t keys = spec.k_count(sequence);
  Pieces pieces(gemm_scratch(
      Scratch::kAttention, Pieces::padded(PackedRows::Floats(spec.width)) + kBlockRows * kStride));
  const PackedRows left =
      PackRows(block, in.q, spec.width, pieces.take(PackedRows::Floats(spec.width)));
  float* scores = pieces.take(kBlockRows * kStride);
  const ScoreTerms terms{spec, sequence};
  for (size_t begin = 0; begin < keys; begin += kWindow) {
    const Keys window{begin, begin + kWindow}, real = window.And({0, keys});
    const Keys seen = block.keys.And(window);
    if (spec.vector != nullptr) {
      AdditiveBlock{spec, in, sequence, block.rows[0].head / spec.group()}.Scores(block, window,
                                                                                  scores, kStride);
    } else {
      MultiplyKeys(block, left, {panels, 0}, seen, spec.scale, scores + (seen.begin - begin),
                   kStride);
    }
    for (size_t r = 0; r < block.count; ++r) {
      const QueryRow& row = block.rows[r];
      float* s = scores + r * kStride;
      terms.Finish(row, real, s, nullptr);
      if (lse != nullptr)
        WeighScores(spec.weighting, lse[row.row * spec.heads + row.head], s, real.count());
      std::copy_n(s, real.count(), to + r * keys + begin);
    }
  }
}

void Rows(const AttentionSpec& spec, const AttentionInputs& in, const float* lse,
          const RowsOfInterest& rows, float* to) {
  const size_t keys = spec.k_count(rows.sequence), kv_head = rows.head / spec.group();
  const Storage storage(RoundUp(keys, kPanel) * spec.width * sizeof(float));
  float* panels = static_cast<float*>(storage.data());
  const float* k = in.k.data + spec.k_begin(rows.sequence) * in.k.stride + kv_head * spec.width;
  PackRight({k, in.k.stride, true}, 0, spec.width, 0, keys, panels, spec.width * kPanel);
  parallel_for(rows.query_count, kBlockRows, [&](size_t begin, size_t end) {
    const AttentionChunk chunk{rows.sequence, kv_head, rows.query + begin, end - begin};
    const size_t first = rows.head % spec.group() * chunk.queries;
    RunBlock(spec, in, lse, RowBlock(spec, chunk, first, chunk.queries), rows.sequence, panels,
             to + begin * keys);
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Rows);

void attention_weights(const AttentionSpec& spec, const AttentionInputs& in, const float* lse,
                       const RowsOfInterest& rows, float* weights) {
  HWY_DYNAMIC_DISPATCH(Rows)(spec, in, lse, rows, weights);
}

void attention_scores(const AttentionSpec& spec, const AttentionInputs& in,
                      const RowsOfInterest& rows, float* scores) {
  HWY_DYNAMIC_DISPATCH(Rows)(spec, in, nullptr, rows, scores);
}

}  // namespace attend::kernels
#endif
