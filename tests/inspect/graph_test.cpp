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
#include "tests/inspect/readings.h"

namespace attend {
namespace {

float row_sum(const Tensor& x, size_t row) {
  float sum = 0;
  for (const float value : x.slice_rows(row, 1).span()) sum += value;
  return sum;
}

AttentionGraph graph_of_text(const TextModel& model) {
  return attention_graph(model, given_reading(model, "abcde", "fgh"));
}

// Where there are mixtures, each layer has its own.
TextModel small_crossing_model(CrossSource cross) {
  ModelConfig config = small_transformer_config();
  config.transformer.cross = cross;
  TextModel model = small_model(config);
  for (const NamedTensor& p : parameters(*model.model)) {
    if (p.name == "mixture") std::ranges::copy(std::vector{3, 1, 0, 0, 1, 2}, p.tensor.data());
  }
  return model;
}

Tensor half_of_each(const Tensor& a, const Tensor& b) { return scale(add(a, b), 0.5f); }

// What of the source is in the target, where decoder layer i looks at shares[i] of the source's
// inputs and layers. Maps are in the order of attention_layers().
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
    const Reading reading = given_reading(model, "abcde", "fgh");
    const auto maps = mean_maps(model, reading, model.model->attention_layers());
    const Tensor expected = source_in_target(maps, shares);
    const Tensor found = rollout(attention_graph(model, reading)).cross;
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
    const Relevance r = rollout(graph_of_text(model));
    ASSERT_EQ(r.encoder.shape(), Shape({6, 6}));
    ASSERT_EQ(r.cross.shape(), Shape({4, 6}));
    for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(row_sum(r.encoder, i), 1.0f, 1e-5f);
    for (size_t t = 0; t < 4; ++t) {
      EXPECT_NEAR(row_sum(r.cross, t) + row_sum(r.decoder, t), 1.0f, 1e-5f);
    }
  }
}

TEST(Rollout, MultipliesTheStages) {
  // Two stages of the source that hand tokens round, then one look of the target.
  const Tensor swap = Tensor::of(std::vector<float>{0, 1, 1, 0}, {2, 2});
  const Tensor first = Tensor::of(std::vector<float>{1, 0}, {1, 2});
  AttentionGraph graph{2, 1, {{true, swap, {}}, {true, swap, {}}, {false, {}, first}}};
  const Relevance r = rollout(graph);
  EXPECT_EQ(r.encoder.to_vector(), (std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f}));
  EXPECT_EQ(r.cross.to_vector(), (std::vector<float>{0.25f, 0.25f}));
  EXPECT_EQ(r.decoder.to_vector(), std::vector<float>{0.5f});
}

// The source's inputs and what one stage made of them, a quarter and three quarters.
AttentionGraph mixed_graph() {
  const Tensor swap = Tensor::of(std::vector<float>{0, 1, 1, 0}, {2, 2});
  const Tensor look = Tensor::of(std::vector<float>{1, 0}, {1, 2});
  return {2, 1, {{true, swap, {}}, {false, {}, look, {0.25f, 0.75f}}}};
}

TEST(Rollout, TakesSharesOfTheStages) {
  const Relevance r = rollout(mixed_graph());
  EXPECT_EQ(r.cross.to_vector(), (std::vector<float>{0.3125f, 0.1875f}));
  EXPECT_EQ(r.decoder.to_vector(), std::vector<float>{0.5f});
}

TEST(Flow, TakesSharesOfTheStages) {
  const Relevance f = flow(mixed_graph());
  EXPECT_NEAR(f.cross.data()[0], 0.5f, 1e-6f);  // a quarter, and a half around the stage: the look
  EXPECT_NEAR(f.cross.data()[1], 0.5f, 1e-6f);  // a half through the stage
  EXPECT_NEAR(f.decoder.data()[0], 0.5f, 1e-6f);
}

TEST(Flow, IsWhatTheNarrowestEdgesLetThrough) {
  // From source token 0 to the target: around the layer (1/2), then into the look (3/4 of 1/2).
  const Tensor stay = Tensor::of(std::vector<float>{1, 0, 0, 1}, {2, 2});
  const Tensor look = Tensor::of(std::vector<float>{0.75f, 0.25f}, {1, 2});
  AttentionGraph graph{2, 1, {{true, stay, {}}, {false, {}, look}}};
  const Relevance f = flow(graph);
  EXPECT_NEAR(f.encoder.data()[0], 1.0f, 1e-6f);  // two edges of 1/2
  EXPECT_EQ(f.encoder.data()[1], 0.0f);
  EXPECT_NEAR(f.cross.data()[0], 0.375f, 1e-6f);
  EXPECT_NEAR(f.cross.data()[1], 0.125f, 1e-6f);
  EXPECT_NEAR(f.decoder.data()[0], 0.5f, 1e-6f);
}

TEST(Flow, IsAtLeastTheRolloutAndAtMostOne) {
  for (const CrossSource cross : {CrossSource::kLast, CrossSource::kSame, CrossSource::kMix}) {
    const AttentionGraph graph = graph_of_text(small_crossing_model(cross));
    const Relevance f = flow(graph), r = rollout(graph);
    for (const AttentionPart part :
         {AttentionPart::kEncoder, AttentionPart::kCross, AttentionPart::kDecoder}) {
      const Tensor &flows = part_of(f, part), &products = part_of(r, part);
      ASSERT_EQ(flows.shape(), products.shape());
      for (size_t i = 0; i < flows.size(); ++i) {
        EXPECT_GE(flows.span()[i], products.span()[i] - 1e-3f);
        EXPECT_LE(flows.span()[i], 1.0f + 1e-5f);
      }
    }
  }
}

TEST(Flow, ThreadsDoNotChangeTheBits) {
  const AttentionGraph graph = graph_of_text(small_transformer_model());
  const int before = thread_count();
  set_thread_count(1);
  const std::vector<float> one = flow(graph).cross.to_vector();
  set_thread_count(3);
  EXPECT_EQ(flow(graph).cross.to_vector(), one);
  set_thread_count(before);
}

TEST(Flow, NothingFlowsWhereWeightsAreNoNumbers) {
  const Tensor look = Tensor::full({1, 2}, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(flow({2, 1, {{false, {}, look}}}).cross.to_vector(), (std::vector<float>{0, 0}));
}

TEST(Flow, RefusesLongTexts) {
  const AttentionGraph graph{kMostFlowTokens + 1, 3, {}};
  expect_error<DataError>([&] { flow(graph); }, "65 source and 3 target tokens");
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
  const Reading reading = given_reading(model, std::string(kMostFlowTokens, 'a'), "fg");
  Watch watch;
  expect_error<DataError>([&] { graph_picture(model, reading, GraphMethod::kFlow); },
                          "65 source and 3 target tokens");
  EXPECT_FALSE(watch.ran);
}

}  // namespace
}  // namespace attend
