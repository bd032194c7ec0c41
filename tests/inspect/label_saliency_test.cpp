// How much each token speaks for each label.
#include "attend/inspect/label_saliency.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/attention/intervention.h"
#include "attend/inspect/draw.h"
#include "attend/nn/freeze.h"
#include "attend/ops/softmax.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/inspect/maps.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

TextModel labelling(bool pair = false) {
  ModelConfig config("label");
  auto& label = config.settings.as<LabelConfig>();
  label.pooling = LabelPooling::kFirst;
  label.pair = pair;
  make_small(label.encoder.settings.as<TransformerConfig>());
  TextModel model = small_model(config);
  freeze(*model.model);
  return model;
}

// The log-probability of a label, for a text of letters.
float log_probability(const TextModel& model, const std::string& text, const std::string& label) {
  const NoGrad no_grad;
  const Trace trace = given_trace(model, text);
  const Tensor all = log_softmax(model.classifier().label_logits(inputs_of(trace)));
  const int32_t id = model.tokenizer("label").encode(label).front();
  return all.data()[id - model.tokenizer("label").first_piece()];
}

TEST(LabelSaliency, RowsAreLabelsByTheirProbability) {
  const TextModel model = labelling();
  const Trace trace = given_trace(model, "abcd");
  const LabelSaliency found = label_saliency(model, trace, {.labels = 4});
  ASSERT_EQ(found.labels.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(std::log(found.probabilities[i]), log_probability(model, "abcd", found.labels[i]),
                1e-5f);
    EXPECT_LE(found.probabilities[i], found.probabilities[i > 0 ? i - 1 : 0]);
  }
  EXPECT_EQ(found.contributions[0].shape(), Shape({4, trace.sequences[0].size()}));
  EXPECT_FALSE(found.contributions[1].defined());  // the label itself
}

// The row of a label is what saliency() says of a trace with that label.
TEST(LabelSaliency, GradientsAreThoseOfEachLabelAlone) {
  const TextModel model = labelling();
  for (const auto& [method, alone] :
       {std::pair{LabelMethod::kGradient, SaliencyMethod::kGradient},
        std::pair{LabelMethod::kIntegrated, SaliencyMethod::kIntegrated}}) {
    const Trace trace = given_trace(model, "abcd");
    const LabelSaliency found = label_saliency(model, trace, {.method = method, .labels = 3});
    for (size_t i = 0; i < 3; ++i) {
      const Trace one = given_trace(model, "abcd", found.labels[i]);
      const Saliency expected = saliency(model, one, {.method = alone});
      EXPECT_EQ(found.contributions[0].slice_rows(i, 1).to_vector(), expected[0].to_vector());
    }
  }
}

// Weighted by probability, gradients of all log-probabilities cancel out.
TEST(LabelSaliency, WhatSpeaksForOneLabelSpeaksAgainstOthers) {
  const TextModel model = labelling();
  const Trace trace = given_trace(model, "abcd");
  const LabelSaliency found = label_saliency(model, trace, {.labels = 100});
  ASSERT_EQ(found.labels.size(), model.classifier().labels());
  for (size_t item = 0; item < trace.sequences[0].size(); ++item) {
    float sum = 0;
    for (size_t i = 0; i < found.labels.size(); ++i) {
      sum += found.probabilities[i] * found.contributions[0].slice_rows(i, 1).span()[item];
    }
    EXPECT_NEAR(sum, 0.0f, 1e-5f);
  }
}

TEST(LabelSaliency, LeavingOutComparesTheTextWithAndWithout) {
  const TextModel model = labelling();
  const Trace trace = given_trace(model, "abcd");
  const LabelSaliencyConfig config{.method = LabelMethod::kLeaveOut, .labels = 2};
  const LabelSaliency found = label_saliency(model, trace, config);
  const std::vector<std::string> without = {"bcd", "acd", "abd", "abc"};
  for (size_t i = 0; i < 2; ++i) {
    const std::string& label = found.labels[i];
    const auto row = found.contributions[0].slice_rows(i, 1).to_vector();
    EXPECT_EQ(row.front(), 0.0f);  // a start and an end are never left out
    EXPECT_EQ(row.back(), 0.0f);
    for (size_t k = 0; k < without.size(); ++k) {
      const float expected =
          log_probability(model, "abcd", label) - log_probability(model, without[k], label);
      EXPECT_NEAR(row[row.size() - 5 + k], expected, 1e-5f);
    }
  }
  LabelSaliencyConfig one_by_one = config;
  one_by_one.most_rows = 1;
  size_t passes = 0;
  one_by_one.on_pass = [&] { ++passes; };
  EXPECT_EQ(label_saliency_json(label_saliency(model, trace, one_by_one), trace),
            label_saliency_json(found, trace));
  EXPECT_EQ(passes, 5u);
}

TEST(LabelSaliency, BothTextsOfAPairHaveTheirPart) {
  const TextModel model = labelling(true);
  const Trace trace = given_trace(model, {{"text", "abc"}, {"pair", "de"}});
  for (const LabelMethod method : {LabelMethod::kGradient, LabelMethod::kLeaveOut}) {
    const LabelSaliency found = label_saliency(model, trace, {.method = method, .labels = 2});
    const std::vector<float> all = found.contributions[trace.index_of("texts")].to_vector();
    std::vector<float> parts;
    for (size_t row = 0; row < 2; ++row) {
      for (const char* name : {"text", "pair"}) {
        const auto part = found.contributions[trace.index_of(name)].slice_rows(row, 1).to_vector();
        parts.insert(parts.end(), part.begin(), part.end());
      }
    }
    EXPECT_EQ(all, parts);
  }
  const HeatMap picture = label_saliency_picture(model, trace, "texts");
  EXPECT_EQ(picture.column_breaks, (std::vector<size_t>{trace.sequence("text").size()}));
}

TEST(LabelSaliency, TheLabelOfTheTraceIsAlwaysThere) {
  const TextModel model = labelling();
  const LabelSaliency all = label_saliency(model, given_trace(model, "abcd"), {.labels = 100});
  const std::string& last = all.labels.back();
  const LabelSaliency found =
      label_saliency(model, given_trace(model, "abcd", last), {.labels = 2});
  ASSERT_EQ(found.labels.size(), 3u);
  EXPECT_EQ(found.labels.back(), last);
}

TEST(LabelSaliency, EachRowHasItsOwnScale) {
  const TextModel model = labelling();
  const Trace trace = given_trace(model, "abcd");
  const HeatMap map = label_saliency_picture(model, trace, "", {.labels = 3});
  ASSERT_EQ(map.row_most.size(), 3u);
  for (size_t row = 0; row < 3; ++row) {
    float most = 0;
    for (size_t column = 0; column < map.columns.size(); ++column) {
      most = std::max(most, std::abs(map.level(row, column)));
    }
    EXPECT_FLOAT_EQ(most, 1.0f);
  }
  const std::string text = draw_maps({&map, 1}, PictureFormat::kTerminal);
  EXPECT_NE(text.find("each row has its own scale"), text.npos);
  const std::string svg = draw_maps({&map, 1}, PictureFormat::kSvg);
  EXPECT_NE(svg.find("most of the row"), svg.npos);
  EXPECT_NE(map.rows.front().find(" %"), std::string::npos);
}

TEST(LabelSaliency, FollowsAnIntervention) {
  const TextModel model = labelling();
  const Trace trace = given_trace(model, "abcd");
  const LabelSaliency before = label_saliency(model, trace);
  Intervention intervention;
  intervention.knock_out({trace.layers.front().name});
  EXPECT_NE(label_saliency(model, trace).probabilities, before.probabilities);
}

TEST(LabelSaliency, SaysWhatIsWrong) {
  const TextModel transformer = small_transformer_model();
  expect_error<ConfigError>(
      [&] { label_saliency(transformer, given_trace(transformer, "a", "b")); }, "label");
  expect_error<ConfigError>([] { label_method_from_name("lime"); },
                            "gradient, integrated, leave-out");
  const TextModel model = labelling();
  expect_error<DataError>(
      [&] {
        label_saliency(model, given_trace(model, std::string(1500, 'a')),
                       {.method = LabelMethod::kLeaveOut});
      },
      "takes too long");
}

}  // namespace
}  // namespace attend
