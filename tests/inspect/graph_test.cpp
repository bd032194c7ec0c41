// Rollout and flow.
#include "attend/inspect/graph.h"

#include <gtest/gtest.h>

#include <limits>

#include "attend/base/parallel.h"
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

TEST(Rollout, WhatIsInATokenSumsToOne) {
  for (const TextModel& model : {small_transformer_model(), small_rnn_model("bahdanau")}) {
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
  const TextModel model = small_transformer_model();
  const AttentionGraph graph = graph_of_text(model);
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

}  // namespace
}  // namespace attend
