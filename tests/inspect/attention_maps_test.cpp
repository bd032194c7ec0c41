// Maps of every kind of model.
#include "attend/inspect/attention_maps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/inspect/overview.h"
#include "attend/models/conv.h"
#include "tests/errors.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

const SequencePair kCross{"target", "source"};

TextModel small_conv_model() {
  ModelConfig config("conv");
  auto& conv = config.settings.as<ConvConfig>();
  conv.width = conv.hidden = 12;
  return small_model(config);
}

std::vector<Tensor> heads_of(const TextModel& model, const Trace& trace, const std::string& layer) {
  std::vector<Tensor> heads;
  for (size_t i = 0; i < layer_named(trace.layers, layer).heads; ++i) {
    heads.push_back(attention_map(model, trace, layer, {HeadChoice::Kind::kOne, i}));
  }
  return heads;
}

std::vector<TextModel> every_model() {
  return {small_transformer_model(),
          small_rnn_model("bahdanau"),
          small_rnn_model("luong"),
          small_conv_model(),
          small_label_model(LabelPooling::kAttention),
          small_label_model(LabelPooling::kFirst),
          small_language_model()};
}

TEST(AttentionMaps, RowsOfEveryMapSumToOneAndFitTheirLabels) {
  for (const TextModel& model : every_model()) {
    const bool label = model.model->classifier() != nullptr;
    const Trace trace = given_trace(model, "abc de", label ? "a" : "fgh");
    ASSERT_FALSE(trace.layers.empty());
    for (const AttentionLayer& layer : trace.layers) {
      const MapLabels labels = map_labels(trace, pair_of(layer));
      for (const Tensor& weights : heads_of(model, trace, layer.name)) {
        ASSERT_EQ(weights.shape(), Shape({labels.rows.size(), labels.columns.size()}))
            << model.config.kind.name << " " << layer.name;
        for (size_t i = 0; i < weights.rows(); ++i) {
          float sum = 0;
          for (const float w : weights.slice_rows(i, 1).span()) sum += w;
          EXPECT_NEAR(sum, 1.0f, 1e-5f) << layer.name << " row " << i;
        }
      }
    }
  }
}

TEST(AttentionMaps, HeadsTogetherAreTheirMeanOrTheLargest) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcd", "ef");
  const std::vector<Tensor> heads = heads_of(model, trace, "encoder.1.self");
  const Tensor mean = attention_map(model, trace, "encoder.1.self");
  const Tensor most = attention_map(model, trace, "encoder.1.self", HeadChoice::parse("max"));
  const Tensor second = attention_map(model, trace, "encoder.1.self", HeadChoice::parse("1"));
  for (size_t i = 0; i < mean.size(); ++i) {
    const float a = heads[0].span()[i], b = heads[1].span()[i];
    EXPECT_NEAR(mean.span()[i], (a + b) / 2, 1e-7f);
    EXPECT_EQ(most.span()[i], std::max(a, b));
    EXPECT_EQ(second.span()[i], b);
  }
}

TEST(AttentionMaps, WhatIsWrittenLooksBackOnly) {
  const TextModel translates = small_transformer_model(), continues = small_language_model();
  const Tensor maps[] = {
      attention_map(translates, given_trace(translates, "abcd", "efgh"), "decoder.0.self"),
      attention_map(continues, given_trace(continues, "efgh"),
                    continues.model->signature().layers[0].name)};
  for (const Tensor& map : maps) {
    ASSERT_EQ(map.shape(), Shape({5, 5}));
    for (size_t i = 0; i < map.rows(); ++i) {
      for (size_t j = i + 1; j < map.width(); ++j) {
        EXPECT_EQ(map.data()[i * map.stride() + j], 0.0f);
      }
    }
  }
}

TEST(AttentionMaps, AnEmptyTextHasItsFrame) {
  const TextModel model = small_transformer_model(), language = small_language_model();
  EXPECT_EQ(attention_map(model, given_trace(model, "", ""), "decoder.1.cross").to_vector(),
            std::vector{1.0f});
  EXPECT_EQ(mean_map(language, given_trace(language, ""), {"text", "text"}).to_vector(),
            std::vector{1.0f});
}

TEST(AttentionMaps, NamesWhatThereIs) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "ab", "c");
  expect_error<ConfigError>([&] { attention_map(model, trace, "decoder.7.cross"); },
                            "no attention layer 'decoder.7.cross'; there are: encoder.0.self");
  expect_error<ConfigError>(
      [&] { attention_map(model, trace, "encoder.0.self", HeadChoice::parse("2")); },
      "layer encoder.0.self has 2 heads, from 0; there is no head 2");
  expect_error<ConfigError>([] { HeadChoice::parse("best"); }, "unknown head 'best'");
  expect_error<ConfigError>([] { HeadChoice::parse("-1"); }, "unknown head '-1'");
  const TextModel fixed = small_rnn_model("vanilla");
  const Trace unseen = given_trace(fixed, "ab", "c");
  expect_error<ConfigError>([&] { attention_map(fixed, unseen, "decoder.attention"); },
                            "the model has no attention");
  expect_error<ConfigError>([&] { mean_map(fixed, unseen, kCross); },
                            "the model has no attention to look at; use saliency instead");
  const TextModel recurrent = small_rnn_model("bahdanau");
  expect_error<ConfigError>(
      [&] {
        mean_map(recurrent, given_trace(recurrent, "ab", "c"), {"source", "source"});
      },
      "no attention layer goes from 'source' to 'source'; there are: target -> source");
}

TEST(Overview, ThumbnailsKeepTheLargestOfEachCell) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcdefgh", "hgfedcba");
  const Thumbnails small = thumbnails(model, trace, kCross, 3);
  ASSERT_EQ(small.layers, 2u);
  ASSERT_EQ(small.heads, 2u);
  ASSERT_EQ(small.rows, 3u);
  ASSERT_EQ(small.columns, 3u);
  const Tensor map =
      attention_map(model, trace, "decoder.1.cross", HeadChoice::parse("1"));  // the last one
  const float largest = std::ranges::max(map.span());
  for (size_t r = 0; r < 3; ++r) {
    for (size_t c = 0; c < 3; ++c) {
      float most = 0;
      for (size_t i = r * 3; i < r * 3 + 3; ++i) {
        for (size_t j = c * 3; j < c * 3 + 3; ++j) most = std::max(most, map.data()[i * 9 + j]);
      }
      EXPECT_NEAR(small.cells[(3 * 3 + r) * 3 + c], most / largest * 255, 0.51f);
    }
  }
  EXPECT_EQ(thumbnails(model, trace, SequencePair{"source", "source"}, 100).columns, 9u);
}

TEST(Overview, HeadsThatALayerLacksHaveNoEntropy) {
  const TextModel model = small_transformer_model();
  Trace trace = given_trace(model, "abcd", "ef");
  for (AttentionLayer& layer : trace.layers) {
    if (layer.name == "decoder.1.cross") layer.heads = 3;
  }
  const Thumbnails small = thumbnails(model, trace, kCross, 2);
  ASSERT_EQ(small.heads, 3u);
  ASSERT_EQ(small.entropies.size(), 6u);
  EXPECT_FALSE(std::isnan(small.entropies[1]));
  EXPECT_TRUE(std::isnan(small.entropies[2]));
}

TEST(Overview, ThumbnailsOfLongTextsAreNotBlank) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, std::string(600, 'a'), "b");
  const Thumbnails small = thumbnails(model, trace, kCross, 8);
  const size_t cells = small.rows * small.columns;
  for (size_t head = 0; head < small.layers * small.heads; ++head) {
    EXPECT_EQ(std::ranges::max(std::span(small.cells).subspan(head * cells, cells)), 255);
  }
}

TEST(Overview, EntropyIsThatOfTheRows) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcd", "ef");
  const std::vector<AttentionLayer> layers = trace.layers;
  const auto all = entropies(model, trace, layers);
  ASSERT_EQ(all.size(), layers.size());
  const Tensor map = attention_map(model, trace, layers[0].name, HeadChoice::parse("1"));
  double sum = 0;
  for (const float w : map.span()) sum -= double{w} * std::log(double{w});
  EXPECT_NEAR(double{all[0][1]}, sum / static_cast<double>(map.rows()), 1e-5);
}

// Weights that are negative, or all zero, or do not sum to one.
TEST(Overview, EntropyIsThatOfTheSharesOfARow) {
  for (const Weighting weighting : {Weighting::kIdentity, Weighting::kRelu, Weighting::kSigmoid}) {
    const TextModel model = small_weighting_model(weighting);
    const Trace trace = given_trace(model, "abcd", "ef");
    const std::vector<AttentionLayer> layers = trace.layers;
    const auto all = entropies(model, trace, layers);
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      const Tensor map = attention_map(model, trace, layers[layer].name, HeadChoice::parse("1"));
      double sum = 0, rows = 0;
      for (size_t i = 0; i < map.rows(); ++i) {
        double total = 0;
        for (const float w : map.slice_rows(i, 1).span()) total += std::abs(double{w});
        if (total == 0) continue;
        ++rows;
        for (const float w : map.slice_rows(i, 1).span()) {
          const double share = std::abs(double{w}) / total;
          if (share > 0) sum -= share * std::log(share);
        }
      }
      EXPECT_NEAR(double{all[layer][1]}, rows > 0 ? sum / rows : 0.0, 1e-5) << name_of(weighting);
    }
  }
}

}  // namespace
}  // namespace attend
