// Gradients of what was written, against changes of what was read.
#include "attend/inspect/saliency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/nn/embedding_tap.h"
#include "attend/nn/freeze.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/inspect/traces.h"

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

std::vector<int32_t> labels_of(const TextModel& model, const TraceSequence& written) {
  if (written.role == SequenceRole::kWritten) return written.written;
  return {label_number(model, written, written.written.at(0))};
}

std::vector<float> log_probabilities(const TextModel& model, const Trace& trace) {
  const TraceSequence& written = *trace.written();
  const NoGrad no_grad;
  const Tensor losses = cross_entropy(logits_of(model, trace),
                                      Tensor::ids(labels_of(model, written), {written.size()}),
                                      {.reduction = Reduction::kNone});
  std::vector<float> all = losses.to_vector();
  for (float& loss : all) loss = -loss;
  return all;
}

std::vector<TextModel> models() {
  return {small_transformer_model(), small_rnn_model("bahdanau"), small_rnn_model("vanilla")};
}

// Of what is read first: the same letter twice.
TEST(Saliency, GradientIsTheSlopeOfAToken) {
  std::vector<TextModel> all = models();
  all.push_back(small_label_model(LabelPooling::kMean));
  for (const TextModel& model : all) {
    const bool label = model.model->classifier() != nullptr;
    const Trace trace = given_trace(model, "abca", label ? "d" : "de");
    const Tensor found = saliency(model, trace)[0];
    ASSERT_EQ(found.shape(), Shape({label ? 1u : 3u, 5}));
    constexpr float kStep = 4e-3f;
    for (size_t s = 0; s < 5; ++s) {
      std::vector<float> up, down;
      {
        const Scale tap(1 + kStep, s, false);
        up = log_probabilities(model, trace);
      }
      {
        const Scale tap(1 - kStep, s, false);
        down = log_probabilities(model, trace);
      }
      for (size_t t = 0; t < up.size(); ++t) {
        EXPECT_NEAR(found.data()[t * 5 + s], (up[t] - down[t]) / (2 * kStep), 2e-3f);
      }
    }
  }
}

TEST(Saliency, GradientIsTheSlopeOfWhatWasWritten) {
  const TextModel model = small_language_model();
  const Trace trace = given_trace(model, "abca");
  const Saliency found = saliency(model, trace);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].shape(), Shape({5, 5}));
  constexpr float kStep = 4e-3f;
  for (size_t s = 0; s < 5; ++s) {
    std::vector<float> up, down;
    {
      const Scale tap(1 + kStep, s, true);
      up = log_probabilities(model, trace);
    }
    {
      const Scale tap(1 - kStep, s, true);
      down = log_probabilities(model, trace);
    }
    for (size_t t = 0; t < 5; ++t) {
      EXPECT_NEAR(found[0].data()[t * 5 + s], (up[t] - down[t]) / (2 * kStep), 2e-3f);
    }
  }
}

// The vectors of the unknown token, in place of those of any other.
struct AllUnknown : EmbeddingTap {
  Tensor embed(const Tensor& ids, const LookUp& look_up) override {
    const std::vector<int32_t> unknown(ids.size(), SpecialTokens().unknown);
    return look_up(Tensor::ids(unknown, ids.shape()));
  }
};

// How far what all tokens get is from what the text adds to unknown tokens, at most.
float largest_gap(const TextModel& model, size_t steps) {
  const bool label = model.model->classifier() != nullptr;
  const Trace trace = given_trace(model, "abcd", label ? "e" : "efg");
  const Saliency found =
      saliency(model, trace, {.method = SaliencyMethod::kIntegrated, .steps = steps});
  const std::vector<float> whole = log_probabilities(model, trace);
  const AllUnknown nothing;
  const std::vector<float> none = log_probabilities(model, trace);
  float largest = 0;
  for (size_t t = 0; t < whole.size(); ++t) {
    float sum = 0;
    for (const Tensor& sequence : found) {
      if (!sequence.defined()) continue;
      for (const float part : sequence.slice_rows(t, 1).span()) sum += part;
    }
    largest = std::max(largest, std::abs(sum - (whole[t] - none[t])));
  }
  return largest;
}

TEST(Saliency, IntegratedGradientsAddUpToTheDifference) {
  std::vector<TextModel> all = models();
  all.push_back(small_language_model());
  all.push_back(small_label_model(LabelPooling::kAttention));
  for (const TextModel& model : all) {
    EXPECT_LT(largest_gap(model, 200), 0.02f) << model.config.kind.name;
  }
}

// From zeros, where norms take lengths away, some of these would be off by more than 1.
TEST(Saliency, AFewStepsAreEnoughWhereNormsTakeLengthsAway) {
  for (const PositionScheme scheme : {PositionScheme::kRotary, PositionScheme::kAlibi}) {
    for (const NormPlace norm : {NormPlace::kPre, NormPlace::kPost}) {
      ModelConfig config = small_transformer_config();
      transformer_of(config).width = 64;
      transformer_of(config).positions = scheme;
      transformer_of(config).norm = norm;
      const TextModel model = small_model(config);
      EXPECT_LT(largest_gap(model, SaliencyConfig().steps), 0.1f) << name_of(scheme);
      EXPECT_LT(largest_gap(model, 500), 0.01f) << name_of(scheme);
    }
  }
}

TEST(Saliency, WhatIsNotYetWrittenCountsNothing) {
  const TextModel translates = small_transformer_model(), continues = small_language_model();
  const Tensor maps[] = {saliency(translates, given_trace(translates, "ab", "cde"))[1],
                         saliency(continues, given_trace(continues, "cde"))[0]};
  for (const Tensor& map : maps) {
    for (size_t t = 0; t < 4; ++t) {
      for (size_t j = t + 1; j < 4; ++j) EXPECT_EQ(map.data()[t * 4 + j], 0.0f);
    }
  }
}

TEST(Saliency, DoesNotDependOnWhatGoesTogether) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcde", "fgh");
  const Tensor together = saliency(model, trace)[0];
  const Tensor alone = saliency(model, trace, {.most_rows = 1})[0];
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_NEAR(together.span()[i], alone.span()[i], 1e-5f);
  }
}

TEST(Saliency, FrozenParametersTakeNoGradient) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "ab", "c");
  const std::vector<float> before = saliency(model, trace)[0].to_vector();
  clear_grads(*model.model);
  freeze(*model.model);
  EXPECT_EQ(saliency(model, trace)[0].to_vector(), before);
  for (const NamedTensor& p : parameters(*model.model)) {
    EXPECT_FALSE(p.tensor.grad().defined()) << p.name;
  }
}

TEST(Saliency, OfALabelIsThatOfItsText) {
  const TextModel model = small_label_model(LabelPooling::kFirst);
  const Trace trace = given_trace(model, "abc", "d");
  const Saliency found = saliency(model, trace);
  EXPECT_EQ(found[0].shape(), Shape({1, 5}));  // with the start and the end
  EXPECT_NE(found[0].data()[1], 0.0f);
  EXPECT_FALSE(found[1].defined());
  EXPECT_EQ(saliency_keys(trace), "text");
  expect_error<ConfigError>([&] { saliency_keys(trace, "label"); }, "'label' is not read");
}

TEST(Saliency, ShowsWhatIsReadFirst) {
  EXPECT_EQ(saliency_keys(given_trace(small_transformer_model(), "a", "b")), "source");
  EXPECT_EQ(saliency_keys(given_trace(small_transformer_model(), "a", "b"), "target"), "target");
  EXPECT_EQ(saliency_keys(given_trace(small_language_model(), "a")), "text");
}

TEST(Saliency, NeedsSomethingWritten) {
  const TextModel model = small_label_model(LabelPooling::kMean);
  expect_error<ConfigError>([&] { saliency(model, given_trace(model, "abc")); },
                            "saliency: nothing is written");
}

TEST(Saliency, RefusesWhatWouldTakeMinutes) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, std::string(200, 'a'), std::string(200, 'b'));
  expect_error<DataError>([&] { saliency(model, trace, {.method = SaliencyMethod::kIntegrated}); },
                          "use a shorter text, or the plain gradient");
}

TEST(Saliency, NamesItsMethods) {
  EXPECT_EQ(saliency_method_from_name("integrated"), SaliencyMethod::kIntegrated);
  expect_error<ConfigError>([] { saliency_method_from_name("lime"); }, "gradient, integrated");
}

}  // namespace
}  // namespace attend
