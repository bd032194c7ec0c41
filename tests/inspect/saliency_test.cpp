// Gradients of what was written, against changes of what was read.
#include "attend/inspect/saliency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/base/special_tokens.h"
#include "attend/decode/score.h"
#include "attend/nn/embedding_tap.h"
#include "attend/nn/freeze.h"
#include "attend/ops/elementwise.h"
#include "tests/errors.h"
#include "tests/inspect/readings.h"

namespace attend {
namespace {

// Multiplies vectors on their way in: one row of the source, or all of both sides.
struct Scale : EmbeddingTap {
  float factor;
  std::optional<size_t> row;
  bool target_too;
  size_t calls = 0;

  Scale(float by, std::optional<size_t> which, bool both)
      : factor(by), row(which), target_too(both) {}

  Tensor embed(const Tensor& ids, const LookUp& look_up) override {
    Tensor rows = look_up(ids);
    if (calls++ > 0 && !target_too) return rows;
    if (!row) return scale(rows, factor);
    Tensor changed = Tensor::of(rows.to_vector(), rows.shape());
    for (float& value : changed.slice_rows(*row, 1).span()) value *= factor;
    return changed;
  }
};

std::vector<float> log_probabilities(const TextModel& model, const Reading& reading) {
  const auto tokens = [](std::span<const int32_t> ids) {
    return Tokens(ids, Packing::even(1, ids.size()));
  };
  return score(*model.model, tokens(reading.source), tokens(reading.target))[0].log_probabilities;
}

std::vector<TextModel> models() {
  return {small_transformer_model(), small_rnn_model("bahdanau"), small_rnn_model("vanilla")};
}

TEST(Saliency, GradientIsTheSlopeOfAToken) {
  for (const TextModel& model : models()) {
    const Reading reading = given_reading(model, "abca", "de");  // the same letter twice
    const Saliency found = saliency(model, reading);
    ASSERT_EQ(found.source.shape(), Shape({3, 5}));
    constexpr float kStep = 1e-2f;
    for (size_t s = 0; s < reading.source.size(); ++s) {
      std::vector<float> up, down;
      {
        const Scale tap(1 + kStep, s, false);
        up = log_probabilities(model, reading);
      }
      {
        const Scale tap(1 - kStep, s, false);
        down = log_probabilities(model, reading);
      }
      for (size_t t = 0; t < up.size(); ++t) {
        EXPECT_NEAR(found.source.data()[t * 5 + s], (up[t] - down[t]) / (2 * kStep), 2e-3f);
      }
    }
  }
}

// The vectors of the unknown token, in place of those of any other.
struct AllUnknown : EmbeddingTap {
  Tensor embed(const Tensor& ids, const LookUp& look_up) override {
    return look_up(Tensor::ids(std::vector<int32_t>(ids.size(), kUnknown), ids.shape()));
  }
};

// How far what all tokens get is from what the text adds to unknown tokens, at most.
float largest_gap(const TextModel& model, size_t steps) {
  const Reading reading = given_reading(model, "abcd", "efg");
  const Saliency found =
      saliency(model, reading, {.method = SaliencyMethod::kIntegrated, .steps = steps});
  const std::vector<float> whole = log_probabilities(model, reading);
  const AllUnknown nothing;
  const std::vector<float> none = log_probabilities(model, reading);
  float largest = 0;
  for (size_t t = 0; t < whole.size(); ++t) {
    float sum = 0;
    for (const float part : found.source.slice_rows(t, 1).span()) sum += part;
    for (const float part : found.target.slice_rows(t, 1).span()) sum += part;
    largest = std::max(largest, std::abs(sum - (whole[t] - none[t])));
  }
  return largest;
}

TEST(Saliency, IntegratedGradientsAddUpToTheDifference) {
  for (const TextModel& model : models()) {
    EXPECT_LT(largest_gap(model, 200), 0.02f) << name_of(model.config.kind);
  }
}

// From zeros, where norms take lengths away, some of these would be off by more than 1.
TEST(Saliency, AFewStepsAreEnoughWhereNormsTakeLengthsAway) {
  for (const PositionScheme scheme : {PositionScheme::kRotary, PositionScheme::kAlibi}) {
    for (const NormPlace norm : {NormPlace::kPre, NormPlace::kPost}) {
      ModelConfig config = small_transformer_config();
      config.transformer.width = 64;
      config.transformer.positions = scheme;
      config.transformer.norm = norm;
      const TextModel model = small_model(config);
      EXPECT_LT(largest_gap(model, SaliencyConfig().steps), 0.1f) << name_of(scheme);
      EXPECT_LT(largest_gap(model, 500), 0.01f) << name_of(scheme);
    }
  }
}

TEST(Saliency, WhatIsNotYetWrittenCountsNothing) {
  const TextModel model = small_transformer_model();
  const Saliency found = saliency(model, given_reading(model, "ab", "cde"));
  for (size_t t = 0; t < 4; ++t) {
    for (size_t j = t + 1; j < 4; ++j) EXPECT_EQ(found.target.data()[t * 4 + j], 0.0f);
  }
}

TEST(Saliency, DoesNotDependOnWhatGoesTogether) {
  const TextModel model = small_transformer_model();
  const Reading reading = given_reading(model, "abcde", "fgh");
  const Tensor together = saliency(model, reading).source;
  const Tensor alone = saliency(model, reading, {.most_rows = 1}).source;
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_NEAR(together.span()[i], alone.span()[i], 1e-5f);
  }
}

TEST(Saliency, FrozenParametersTakeNoGradient) {
  const TextModel model = small_transformer_model();
  const Reading reading = given_reading(model, "ab", "c");
  const std::vector<float> before = saliency(model, reading).source.to_vector();
  clear_grads(*model.model);
  freeze(*model.model);
  EXPECT_EQ(saliency(model, reading).source.to_vector(), before);
  for (const NamedTensor& p : parameters(*model.model)) {
    EXPECT_FALSE(p.tensor.grad().defined()) << p.name;
  }
}

TEST(Saliency, OfALabelIsThatOfItsText) {
  ModelConfig config;
  config.kind = ModelKind::kLabel;
  config.label.pooling = LabelPooling::kFirst;
  config.transformer.width = 16;
  config.transformer.heads = 2;
  const TextModel model = small_model(config);
  const Saliency found = saliency(model, given_reading(model, "abc", "d"));
  EXPECT_EQ(found.source.shape(), Shape({2, 4}));
  EXPECT_NE(found.source.data()[0], 0.0f);
  for (const float v : found.target.span()) EXPECT_EQ(v, 0.0f);
}

TEST(Saliency, RefusesWhatWouldTakeMinutes) {
  const TextModel model = small_transformer_model();
  const Reading reading = given_reading(model, std::string(200, 'a'), std::string(200, 'b'));
  expect_error<DataError>(
      [&] { saliency(model, reading, {.method = SaliencyMethod::kIntegrated}); },
      "use a shorter text, or the plain gradient");
}

TEST(Saliency, NamesItsMethods) {
  EXPECT_EQ(saliency_method_from_name("integrated"), SaliencyMethod::kIntegrated);
  expect_error<ConfigError>([] { saliency_method_from_name("lime"); }, "gradient, integrated");
}

}  // namespace
}  // namespace attend
