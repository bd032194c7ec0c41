// What every encoder-decoder must do, whatever is in it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "attend/models/transformer.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"

namespace attend {

constexpr size_t kSourceTokens = 11, kTargetTokens = 13;

inline Tokens some_tokens(const std::vector<int32_t>& lengths, size_t vocabulary, uint64_t seed) {
  const Packing packing(lengths);
  std::vector<int32_t> ids(packing.rows());
  const RandomStream random(seed, 0);
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int32_t>(random.below(i, vocabulary));
  }
  return {ids, packing};
}

inline TransformerConfig small_transformer() {
  TransformerConfig c;
  c.source_vocabulary = kSourceTokens;
  c.target_vocabulary = kTargetTokens;
  c.width = 16, c.heads = 2, c.feed_forward = 24;
  c.encoder_layers = c.decoder_layers = 2;
  return c;
}

inline Tokens sources_of(const Tokens& all, std::span<const size_t> which) {
  std::vector<int32_t> ids, lengths;
  for (const size_t s : which) {
    const auto rows = all.ids.index_span();
    ids.insert(ids.end(), rows.begin() + static_cast<ptrdiff_t>(all.packing.begin(s)),
               rows.begin() + static_cast<ptrdiff_t>(all.packing.end(s)));
    lengths.push_back(static_cast<int32_t>(all.packing.length(s)));
  }
  return {ids, Packing(lengths)};
}

inline void expect_near(const Tensor& actual, const Tensor& expected, float tolerance = 2e-5f) {
  ASSERT_EQ(actual.shape(), expected.shape());
  const std::vector<float> a = actual.to_vector(), b = expected.to_vector();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;  // infinities too
    ASSERT_NEAR(a[i], b[i], tolerance) << i;
  }
}

// The logits after each row of `inputs`, step by step; sequences leave as they end.
inline Tensor step_by_step(const Seq2Seq& model, const Tokens& sources, const Tokens& inputs) {
  const Packing& packing = inputs.packing;
  Tensor all = Tensor::zeros({packing.rows(), model.vocabulary()});
  const auto state = model.start(sources);
  std::vector<size_t> live(packing.count());
  for (size_t s = 0; s < live.size(); ++s) live[s] = s;
  for (size_t t = 0; t < packing.longest(); ++t) {
    std::vector<size_t> parents, still;
    for (size_t i = 0; i < live.size(); ++i) {
      if (packing.length(live[i]) <= t) continue;
      parents.push_back(i);
      still.push_back(live[i]);
    }
    if (parents.size() < live.size()) state->reorder(parents);
    live = still;
    std::vector<int32_t> tokens(live.size());
    std::ranges::transform(live, tokens.begin(),
                           [&](size_t s) { return inputs.ids.index_span()[packing.begin(s) + t]; });
    const Tensor logits = model.step(*state, tokens);
    for (size_t i = 0; i < live.size(); ++i) {
      std::ranges::copy(logits.slice_rows(i, 1).span(),
                        all.slice_rows(packing.begin(live[i]) + t, 1).span().begin());
    }
  }
  return all;
}

// Steps and the whole agree; a batch and its sentences one by one; and several hypotheses of one
// source, however they were reordered.
inline void expect_consistent(const Seq2Seq& model) {
  const NoGrad no_grad;
  const Tokens sources = some_tokens({3, 1, 7, 4}, kSourceTokens, 1);
  const Tokens inputs = some_tokens({2, 5, 1, 4}, kTargetTokens, 2);
  const Tensor logits = model.logits(sources, inputs);
  ASSERT_EQ(logits.shape(), Shape({inputs.packing.rows(), model.vocabulary()}));
  expect_near(step_by_step(model, sources, inputs), logits);

  for (size_t s = 0; s < 4; ++s) {
    const std::vector<size_t> which = {s};
    const Tensor alone = model.logits(sources_of(sources, which), sources_of(inputs, which));
    expect_near(alone, logits.slice_rows(inputs.packing.begin(s), inputs.packing.length(s)));
  }

  // Source 1 has two hypotheses, then three, of which the first is the child of the second.
  const auto state = model.start(sources);
  model.step(*state, std::vector<int32_t>{1, 1, 1, 1});
  state->reorder(std::vector<size_t>{0, 1, 1, 2});
  model.step(*state, std::vector<int32_t>{4, 5, 6, 7});
  state->reorder(std::vector<size_t>{2, 1, 2});
  const Tensor branched = model.step(*state, std::vector<int32_t>{8, 8, 9});
  const std::vector<std::vector<int32_t>> written = {{1, 6, 8}, {1, 5, 8}, {1, 6, 9}};
  for (size_t i = 0; i < written.size(); ++i) {
    const Tokens one(written[i], Packing::of({3}));
    const Tensor expected = model.logits(sources_of(sources, std::vector<size_t>{1}), one);
    expect_near(branched.slice_rows(i, 1), expected.slice_rows(2, 1));
  }
}

// Every parameter learns, and the gradient of a few of each is the slope of the loss.
inline void expect_learns(Seq2Seq& model, const Tokens& inputs, const Tensor& labels) {
  const Tokens sources = some_tokens({3, 1, 6}, kSourceTokens, 3);
  const auto loss = [&] { return cross_entropy(model.logits(sources, inputs), labels); };
  backward(loss());
  for (const NamedTensor& p : parameters(model)) {
    ASSERT_TRUE(p.tensor.grad().defined()) << p.name;
    const Tensor grad = p.tensor.grad();
    size_t largest = 0;
    for (size_t i = 0; i < grad.size(); ++i) {
      if (std::abs(grad.span()[i]) > std::abs(grad.span()[largest])) largest = i;
    }
    const NoGrad no_grad;
    float& value = p.tensor.span()[largest];
    const float before = value, step = 2e-3f;
    value = before + step;
    const float above = loss().item();
    value = before - step;
    const float below = loss().item();
    value = before;
    const float slope = (above - below) / (2 * step);
    EXPECT_NEAR(grad.span()[largest], slope, 2e-3f + 0.03f * std::abs(slope)) << p.name;
  }
}

inline void expect_learns(Seq2Seq& model) {
  expect_learns(model, some_tokens({4, 2, 5}, kTargetTokens, 4),
                some_tokens({4, 2, 5}, kTargetTokens, 5).ids);
}

}  // namespace attend
