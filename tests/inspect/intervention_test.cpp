// Attention that is changed to see what follows.
#include "attend/attention/intervention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/inspect/attention_maps.h"
#include "attend/inspect/saliency.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

Tensor two_rows() { return Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3}); }

TEST(Intervention, ChangesWhatItNames) {
  Intervention intervention;
  intervention.knock_out({"a", 1}).mask({"b"}, 5, 2).replace_row({"c", 0}, 4, {0.5f, 0.5f});
  EXPECT_TRUE(intervention.changes("a"));
  EXPECT_TRUE(intervention.changes("b"));
  EXPECT_TRUE(intervention.changes("c"));
  EXPECT_FALSE(intervention.changes("d"));
  EXPECT_EQ(intervention.heads().size(), 3u);
  const std::string a = "a", b = "b", c = "c";
  EXPECT_EQ(intervention.weights({a, 1}, two_rows()).to_vector(), std::vector<float>(6, 0.0f));
  EXPECT_EQ(intervention.weights({a, 0}, two_rows()).to_vector(), two_rows().to_vector());
  EXPECT_EQ(intervention.scores({a, 1}, two_rows()).to_vector(), two_rows().to_vector());
  // Rows of queries 4 and 5, columns of keys 1 to 3.
  EXPECT_EQ(intervention.scores({b, 7, 4, 1}, two_rows()).to_vector(),
            (std::vector<float>{1, 2, 3, 4, kNever, 6}));
  EXPECT_EQ(intervention.scores({b, 7}, two_rows()).to_vector(), two_rows().to_vector());
  EXPECT_EQ(intervention.weights({c, 0, 4}, two_rows()).to_vector(),
            (std::vector<float>{0.5f, 0.5f, 0, 4, 5, 6}));
  EXPECT_EQ(intervention.weights({c, 0, 4, 1}, two_rows()).to_vector(),
            (std::vector<float>{0.5f, 0, 0, 4, 5, 6}));
  EXPECT_EQ(intervention.weights({c, 1, 4}, two_rows()).to_vector(), two_rows().to_vector());
}

TEST(Intervention, TheInnermostOneIsInstalled) {
  EXPECT_EQ(current_intervention(), nullptr);
  Intervention outer;
  outer.knock_out({"a"});
  {
    Intervention inner;
    inner.knock_out({"b"});
    EXPECT_EQ(current_intervention(), &inner);
    EXPECT_EQ(intervention_in("a"), nullptr);
    EXPECT_EQ(intervention_in("b"), &inner);
  }
  EXPECT_EQ(intervention_in("a"), &outer);
}

TEST(Intervention, GradientsFlowThroughWhatIsNotReplaced) {
  Intervention intervention;
  intervention.mask({"a"}, 0, 1).replace_row({"b"}, 1, {1, 0, 0});
  const std::string a = "a", b = "b";
  Tensor scores = two_rows(), weights = two_rows();
  scores.require_grad();
  weights.require_grad();
  backward(intervention.scores({a, 0}, scores), Tensor::full({2, 3}, 1.0f));
  backward(intervention.weights({b, 0}, weights), Tensor::full({2, 3}, 1.0f));
  EXPECT_EQ(scores.grad().to_vector(), (std::vector<float>{1, 0, 1, 1, 1, 1}));
  EXPECT_EQ(weights.grad().to_vector(), (std::vector<float>{1, 1, 1, 0, 0, 0}));
}

class InterventionInModel : public ::testing::Test {
 protected:
  Tensor map(const std::string& layer, size_t head) const {
    return attention_map(model_, trace_, layer, {HeadChoice::Kind::kOne, head});
  }

  const TextModel model_ = small_transformer_model();
  const Trace trace_ = given_trace(model_, "abcd", "efg");
  const std::vector<float> before_ = logits_of(model_, trace_).to_vector();
};

TEST_F(InterventionInModel, AHeadThatIsKnockedOutLooksAtNothing) {
  const std::vector<float> other = map("decoder.0.cross", 0).to_vector();
  const std::vector<float> earlier = map("encoder.1.self", 1).to_vector();
  {
    Intervention intervention;
    intervention.knock_out({"decoder.0.cross", 1});
    for (const float w : map("decoder.0.cross", 1).to_vector()) EXPECT_EQ(w, 0.0f);
    const std::vector<float> kept = map("decoder.0.cross", 0).to_vector();
    for (size_t i = 0; i < other.size(); ++i) EXPECT_NEAR(kept[i], other[i], 1e-6f);
    EXPECT_EQ(map("encoder.1.self", 1).to_vector(), earlier);  // to the bit
    EXPECT_NE(logits_of(model_, trace_).to_vector(), before_);
  }
  EXPECT_EQ(logits_of(model_, trace_).to_vector(), before_);
}

TEST_F(InterventionInModel, AMaskedPairHasNoWeightAndTheOthersShareIt) {
  const Tensor whole = map("decoder.0.cross", 0);
  Intervention intervention;
  intervention.mask({"decoder.0.cross", 0}, 2, 3);
  const Tensor masked = map("decoder.0.cross", 0);
  const float rest = 1.0f - whole.data()[2 * 5 + 3];
  for (size_t t = 0; t < 4; ++t) {
    for (size_t s = 0; s < 5; ++s) {
      const float w = whole.data()[t * 5 + s];
      const float expected = t != 2 ? w : s == 3 ? 0.0f : w / rest;
      EXPECT_NEAR(masked.data()[t * 5 + s], expected, 1e-5f);
    }
  }
}

TEST_F(InterventionInModel, ARowIsReplaced) {
  Intervention intervention;
  intervention.replace_row({"decoder.1.cross"}, 1, {0, 0, 1});
  for (const size_t head : {0, 1}) {
    EXPECT_EQ(map("decoder.1.cross", head).slice_rows(1, 1).to_vector(),
              (std::vector<float>{0, 0, 1, 0, 0}));
  }
}

// Nothing changes but that the layer keeps its weights in memory.
TEST_F(InterventionInModel, ARowThatIsReplacedByItselfChangesNothing) {
  const std::vector<float> row = map("decoder.0.self", 1).slice_rows(3, 1).to_vector();
  Intervention intervention;
  intervention.replace_row({"decoder.0.self", 1}, 3, row);
  const std::vector<float> after = logits_of(model_, trace_).to_vector();
  for (size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], before_[i], 1e-4f);
}

TEST_F(InterventionInModel, WhatIsKnockedOutHasNoSaliency) {
  Intervention intervention;
  for (const AttentionLayer& layer : layers_between(trace_.layers, {"target", "source"})) {
    intervention.knock_out({layer.name});
  }
  for (const float value : saliency(model_, trace_)[0].to_vector()) EXPECT_EQ(value, 0.0f);
}

TEST_F(InterventionInModel, NamesWhatTheModelLacks) {
  {
    Intervention intervention;
    intervention.knock_out({"decoder.7.cross"});
    expect_error<ConfigError>([&] { logits_of(model_, trace_); },
                              "no attention layer 'decoder.7.cross'");
  }
  Intervention intervention;
  intervention.knock_out({"decoder.0.cross", 2});
  expect_error<ConfigError>([&] { logits_of(model_, trace_); },
                            "layer decoder.0.cross has 2 heads, from 0; there is no head 2");
  expect_error<ConfigError>([&] { saliency(model_, trace_); }, "there is no head 2");
}

// The same in steps as in one pass.
TEST(InterventionInSteps, CountsQueriesAndKeysOfTheWholeSequence) {
  const TextModel model = small_language_model();
  const Trace trace = given_trace(model, "abcd");
  const std::string layer = trace.layers[1].name;
  Intervention intervention;
  intervention.knock_out({trace.layers[0].name, 0})
      .mask({layer}, 3, 1)
      .replace_row({layer, 1}, 4, {0, 1});
  const Tensor whole = logits_of(model, trace);
  const auto state = model.generator().start(inputs_of(trace));
  for (size_t t = 0; t < trace.written()->size(); ++t) {
    const int32_t id = trace.written()->ids[t];
    const std::vector<float> step = model.generator().step(*state, {&id, 1}).to_vector();
    for (size_t v = 0; v < step.size(); ++v) {
      EXPECT_NEAR(step[v], whole.data()[t * whole.stride() + v], 1e-4f) << t;
    }
  }
}

}  // namespace
}  // namespace attend
