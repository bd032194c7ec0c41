// Rollout and flow.
#include "attend/inspect/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/base/parallel.h"
#include "attend/inspect/attention_pictures.h"
#include "attend/nn/embedding_tap.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/linear.h"
#include "tests/errors.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

float row_sum(const Tensor& x, size_t row) {
  float sum = 0;
  for (const float value : x.slice_rows(row, 1).span()) sum += value;
  return sum;
}

AttentionGraph graph_of_text(const TextModel& model) {
  return attention_graph(model, given_trace(model, "abcde", "fgh"));
}

// Where there are mixtures, each layer has its own.
TextModel small_crossing_model(CrossSource cross) {
  ModelConfig config = small_transformer_config();
  transformer_of(config).cross = cross;
  TextModel model = small_model(config);
  for (const NamedTensor& p : parameters(*model.model)) {
    if (p.name == "mixture") std::ranges::copy(std::vector{3, 1, 0, 0, 1, 2}, p.tensor.data());
  }
  return model;
}

constexpr size_t kSource = 0, kTarget = 1;  // of models that have both

// Of two sequences, "source" and "target".
AttentionGraph graph_of(size_t source, size_t target, std::vector<GraphStage> stages) {
  return {{{"source", source}, {"target", target}}, std::move(stages)};
}

Tensor half_of_each(const Tensor& a, const Tensor& b) { return scale(add(a, b), 0.5f); }

// What of the source is in the target, where decoder layer i looks at shares[i] of the source's
// inputs and layers. Maps are in the order of the layers.
Tensor source_in_target(std::span<const Tensor> maps,
                        const std::vector<std::vector<float>>& shares) {
  std::vector<Tensor> source = {Tensor::zeros(maps[0].shape())};
  for (size_t i = 0; i < maps[0].rows(); ++i) source[0].data()[i * (maps[0].width() + 1)] = 1.0f;
  for (size_t i = 0; i < 2; ++i) {
    source.push_back(half_of_each(source[i], matmul(maps[i], source[i])));
  }
  Tensor cross = Tensor::zeros(maps[3].shape());
  for (size_t i = 0; i < 2; ++i) {
    const Tensor &self = maps[2 + 2 * i], &look = maps[3 + 2 * i];
    Tensor read = Tensor::zeros(maps[0].shape());
    for (size_t j = 0; j < 3; ++j) read = add(read, scale(source[j], shares[i][j]));
    cross = half_of_each(cross, matmul(self, cross));
    cross = half_of_each(cross, matmul(look, read));
  }
  return cross;
}

TEST(Rollout, FollowsWhatTheDecoderLooksAt) {
  const auto softmax_of = [](float a, float b, float c) {
    const float sum = std::exp(a) + std::exp(b) + std::exp(c);
    return std::vector{std::exp(a) / sum, std::exp(b) / sum, std::exp(c) / sum};
  };
  const std::pair<CrossSource, std::vector<std::vector<float>>> cases[] = {
      {CrossSource::kLast, {{0, 0, 1}, {0, 0, 1}}},
      {CrossSource::kSame, {{0, 1, 0}, {0, 0, 1}}},
      {CrossSource::kMix, {softmax_of(3, 1, 0), softmax_of(0, 1, 2)}}};
  for (const auto& [cross, shares] : cases) {
    const TextModel model = small_crossing_model(cross);
    const Trace trace = given_trace(model, "abcde", "fgh");
    const auto maps = attention_maps(model, trace, trace.layers);
    const Tensor expected = source_in_target(maps, shares);
    const Tensor found = rollout(attention_graph(model, trace), kTarget)[kSource];
    ASSERT_EQ(found.shape(), expected.shape());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found.span()[i], expected.span()[i], 1e-6f) << name_of(cross) << " " << i;
    }
  }
}

TEST(Rollout, WhatIsInATokenSumsToOne) {
  for (const TextModel& model :
       {small_transformer_model(), small_rnn_model("bahdanau"),
        small_crossing_model(CrossSource::kSame), small_crossing_model(CrossSource::kMix)}) {
    const AttentionGraph graph = graph_of_text(model);
    const Relevance source = rollout(graph, kSource), target = rollout(graph, kTarget);
    ASSERT_EQ(source[kSource].shape(), Shape({6, 6}));
    ASSERT_EQ(target[kSource].shape(), Shape({4, 6}));
    for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(row_sum(source[kSource], i), 1.0f, 1e-5f);
    for (size_t t = 0; t < 4; ++t) {
      EXPECT_NEAR(row_sum(target[kSource], t) + row_sum(target[kTarget], t), 1.0f, 1e-5f);
    }
  }
}

TEST(Rollout, OfAModelThatReadsWhatItWritesIsTheProductOfItsLayers) {
  const TextModel model = small_language_model();
  const Trace trace = given_trace(model, "abcd");
  const std::vector<Tensor> maps = attention_maps(model, trace, trace.layers);
  Tensor expected = Tensor::zeros({5, 5});
  for (size_t i = 0; i < 5; ++i) expected.data()[i * 6] = 1.0f;
  for (const Tensor& map : maps) expected = half_of_each(expected, matmul(map, expected));
  const Relevance found = rollout(attention_graph(model, trace), 0);
  ASSERT_EQ(found.size(), 1u);
  for (size_t i = 0; i < 25; ++i) {
    EXPECT_NEAR(found[0].span()[i], expected.span()[i], 1e-6f);
    // What comes later is in nothing.
    if (i % 5 > i / 5) {
      EXPECT_EQ(found[0].span()[i], 0.0f);
    }
  }
}

TEST(Rollout, OfALabelIsWhatPoolingLooksAt) {
  const TextModel model = small_label_model(LabelPooling::kAttention);
  const Trace trace = given_trace(model, "abcd", "e");
  const Relevance found = rollout(attention_graph(model, trace), trace.index_of("label"));
  ASSERT_EQ(found[0].shape(), Shape({1, 5}));
  EXPECT_NEAR(row_sum(found[0], 0), 0.5f, 1e-5f);
  EXPECT_EQ(found[1].to_vector(), std::vector{0.5f});  // the query itself
}

TEST(Rollout, MultipliesTheStages) {
  // Two stages of the source that hand tokens round, then one look of the target.
  const Tensor swap = Tensor::of(std::vector<float>{0, 1, 1, 0}, {2, 2});
  const Tensor first = Tensor::of(std::vector<float>{1, 0}, {1, 2});
  const AttentionGraph graph =
      graph_of(2, 1, {{0, 0, swap}, {0, 0, swap}, {kTarget, kSource, first}});
  EXPECT_EQ(rollout(graph, kSource)[kSource].to_vector(),
            (std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f}));
  const Relevance target = rollout(graph, kTarget);
  EXPECT_EQ(target[kSource].to_vector(), (std::vector<float>{0.25f, 0.25f}));
  EXPECT_EQ(target[kTarget].to_vector(), std::vector<float>{0.5f});
  EXPECT_EQ(rollout(graph, kSource)[kTarget].to_vector(), (std::vector<float>{0, 0}));
}

// The source's inputs and what one stage made of them, a quarter and three quarters.
AttentionGraph mixed_graph() {
  const Tensor swap = Tensor::of(std::vector<float>{0, 1, 1, 0}, {2, 2});
  const Tensor look = Tensor::of(std::vector<float>{1, 0}, {1, 2});
  return graph_of(2, 1, {{0, 0, swap}, {kTarget, kSource, look, {0.25f, 0.75f}}});
}

TEST(Rollout, TakesSharesOfTheStages) {
  const Relevance r = rollout(mixed_graph(), kTarget);
  EXPECT_EQ(r[kSource].to_vector(), (std::vector<float>{0.3125f, 0.1875f}));
  EXPECT_EQ(r[kTarget].to_vector(), std::vector<float>{0.5f});
}

// Shares of two looks, each of its own stages, computed by hand. The source has inputs I, then
// S1 = (I + P) / 2 and S2 = (S1 + P S1) / 2 = (I + P) / 2, where P swaps its two tokens. Look A
// takes (I + S1) / 2 = (3/4, 1/4; 1/4, 3/4), look B takes S2 = (1/2, 1/2; 1/2, 1/2).
TEST(Rollout, IsTheProductByHandWithSharesOfSeveralStages) {
  const Tensor swap = Tensor::of(std::vector<float>{0, 1, 1, 0}, {2, 2});
  const Tensor first = Tensor::of(std::vector<float>{1, 0}, {1, 2});
  const Tensor both = Tensor::of(std::vector<float>{0.25f, 0.75f}, {1, 2});
  const AttentionGraph graph = graph_of(2, 1,
                                        {{0, 0, swap},
                                         {0, 0, swap},
                                         {kTarget, kSource, first, {0.5f, 0.5f, 0}},
                                         {kTarget, kSource, both, {0, 0, 1}}});
  const Relevance r = rollout(graph, kTarget);
  // After A: (3/4, 1/4) / 2. After B: half of that, and half of (1/2, 1/2).
  EXPECT_EQ(r[kSource].to_vector(), (std::vector<float>{0.4375f, 0.3125f}));
  EXPECT_EQ(r[kTarget].to_vector(), std::vector<float>{0.25f});
}

// A third sequence looks at the second, which has looked at the first.
AttentionGraph chain() {
  const Tensor all = Tensor::of(std::vector<float>{0.75f, 0.25f}, {1, 2});
  const Tensor one = Tensor::of(std::vector<float>{1}, {1, 1});
  return {{{"image", 2}, {"question", 1}, {"answer", 1}}, {{1, 0, all}, {2, 1, one}}};
}

TEST(Rollout, GoesThroughAnyNumberOfSequences) {
  const Relevance r = rollout(chain(), 2);
  EXPECT_EQ(r[0].to_vector(), (std::vector<float>{0.1875f, 0.0625f}));
  EXPECT_EQ(r[1].to_vector(), std::vector<float>{0.25f});
  EXPECT_EQ(r[2].to_vector(), std::vector<float>{0.5f});
}

TEST(Rollout, RefusesSharesOfStagesThatComeLater) {
  AttentionGraph graph = mixed_graph();
  std::swap(graph.stages[0], graph.stages[1]);
  expect_error<ShapeError>([&] { rollout(graph, kTarget); },
                           "shares of 2 stages, but the keys have 1");
  expect_error<ShapeError>([&] { flow(graph, kTarget); },
                           "shares of 2 stages, but the keys have 1");
}

TEST(Flow, TakesSharesOfTheStages) {
  const Relevance f = flow(mixed_graph(), kTarget);
  EXPECT_NEAR(f[kSource].data()[0], 0.5f, 1e-6f);  // a quarter, and half the stage: the look
  EXPECT_NEAR(f[kSource].data()[1], 0.5f, 1e-6f);  // a half through the stage
  EXPECT_NEAR(f[kTarget].data()[0], 0.5f, 1e-6f);
}

TEST(Flow, GoesThroughAnyNumberOfSequences) {
  const Relevance f = flow(chain(), 2);
  EXPECT_NEAR(f[0].data()[0], 0.375f, 1e-6f);  // three quarters of a half, then a half
  EXPECT_NEAR(f[0].data()[1], 0.125f, 1e-6f);
  EXPECT_NEAR(f[1].data()[0], 0.5f, 1e-6f);
  EXPECT_NEAR(f[2].data()[0], 0.5f, 1e-6f);
}

TEST(Flow, IsWhatTheNarrowestEdgesLetThrough) {
  // From source token 0 to the target: around the layer (1/2), then into the look (3/4 of 1/2).
  const Tensor stay = Tensor::of(std::vector<float>{1, 0, 0, 1}, {2, 2});
  const Tensor look = Tensor::of(std::vector<float>{0.75f, 0.25f}, {1, 2});
  const AttentionGraph graph = graph_of(2, 1, {{0, 0, stay}, {kTarget, kSource, look}});
  const Relevance source = flow(graph, kSource), target = flow(graph, kTarget);
  EXPECT_NEAR(source[kSource].data()[0], 1.0f, 1e-6f);  // two edges of 1/2
  EXPECT_EQ(source[kSource].data()[1], 0.0f);
  EXPECT_NEAR(target[kSource].data()[0], 0.375f, 1e-6f);
  EXPECT_NEAR(target[kSource].data()[1], 0.125f, 1e-6f);
  EXPECT_NEAR(target[kTarget].data()[0], 0.5f, 1e-6f);
}

TEST(Flow, IsAtLeastTheRolloutAndAtMostOne) {
  for (const CrossSource cross : {CrossSource::kLast, CrossSource::kSame, CrossSource::kMix}) {
    const AttentionGraph graph = graph_of_text(small_crossing_model(cross));
    for (const size_t sequence : {kSource, kTarget}) {
      const Relevance f = flow(graph, sequence), r = rollout(graph, sequence);
      for (const size_t of : {kSource, kTarget}) {
        ASSERT_EQ(f[of].shape(), r[of].shape());
        for (size_t i = 0; i < f[of].size(); ++i) {
          EXPECT_GE(f[of].span()[i], r[of].span()[i] - 1e-3f);
          EXPECT_LE(f[of].span()[i], 1.0f + 1e-5f);
        }
      }
    }
  }
}

TEST(Flow, ThreadsDoNotChangeTheBits) {
  const AttentionGraph graph = graph_of_text(small_transformer_model());
  const int before = thread_count();
  set_thread_count(1);
  const std::vector<float> one = flow(graph, kTarget)[kSource].to_vector();
  set_thread_count(3);
  EXPECT_EQ(flow(graph, kTarget)[kSource].to_vector(), one);
  set_thread_count(before);
}

TEST(Flow, NothingFlowsWhereWeightsAreNoNumbers) {
  const Tensor look = Tensor::full({1, 2}, std::numeric_limits<float>::quiet_NaN());
  const AttentionGraph graph = graph_of(2, 1, {{kTarget, kSource, look}});
  EXPECT_EQ(flow(graph, kTarget)[kSource].to_vector(), (std::vector<float>{0, 0}));
}

TEST(Flow, RefusesLongTexts) {
  const AttentionGraph graph = graph_of(kMostFlowItems + 1, 3, {});
  expect_error<DataError>([&] { flow(graph, kTarget); },
                          "'source' has 65 items, but flow takes at most 64");
}

TEST(Flow, RefusesLongTextsBeforeTheModelRuns) {
  struct Watch : EmbeddingTap {
    bool ran = false;
    Tensor embed(const Tensor& ids, const LookUp& look_up) override {
      ran = true;
      return look_up(ids);
    }
  };
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, std::string(kMostFlowItems, 'a'), "fg");
  Watch watch;
  expect_error<DataError>(
      [&] {
        graph_picture(model, trace, GraphMethod::kFlow, {"target", "source"});
      },
      "'source' has 65 items");
  EXPECT_FALSE(watch.ran);
}

TEST(Relevance, IsOfPairsThatLayersConnect) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abc", "de");
  for (const GraphMethod method : {GraphMethod::kRollout, GraphMethod::kFlow}) {
    EXPECT_EQ(relevance(model, trace, method, {"target", "source"}).shape(), Shape({3, 4}));
    EXPECT_EQ(relevance(model, trace, method, {"source", "source"}).shape(), Shape({4, 4}));
    expect_error<ConfigError>(
        [&] {
          relevance(model, trace, method, {"source", "target"});
        },
        "no attention layer goes from 'source' to 'target'");
  }
}

}  // namespace
}  // namespace attend
