// Maps of every kind of model.
#include "attend/inspect/reading.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/inspect/overview.h"
#include "tests/errors.h"
#include "tests/inspect/readings.h"

namespace attend {
namespace {

ModelConfig small_label(LabelPooling pooling) {
  ModelConfig config;
  config.kind = ModelKind::kLabel;
  config.label.pooling = pooling;
  config.label.heads = 2;
  config.transformer.width = 16;
  config.transformer.heads = 2;
  config.transformer.encoder_layers = 2;
  return config;
}

ModelConfig small_conv() {
  ModelConfig config;
  config.kind = ModelKind::kConv;
  config.conv.width = config.conv.hidden = 12;
  return config;
}

std::vector<Tensor> heads_of(const TextModel& model, const Reading& reading,
                             const std::string& layer) {
  std::vector<Tensor> heads;
  for (size_t i = 0; i < attention_layer(*model.model, layer).heads; ++i) {
    heads.push_back(attention_map(model, reading, layer, {HeadChoice::Kind::kOne, i}));
  }
  return heads;
}

std::vector<TextModel> every_model() {
  return {small_transformer_model(),
          small_rnn_model("bahdanau"),
          small_rnn_model("luong"),
          small_model(small_conv()),
          small_model(small_label(LabelPooling::kAttention)),
          small_model(small_label(LabelPooling::kFirst))};
}

TEST(Reading, RowsOfEveryMapSumToOneAndFitTheirLabels) {
  for (const TextModel& model : every_model()) {
    const bool label = model.config.kind == ModelKind::kLabel;
    const Reading reading = given_reading(model, "abc de", label ? "a" : "fgh");
    const std::vector<AttentionLayer> layers = model.model->attention_layers();
    ASSERT_FALSE(layers.empty());
    for (const AttentionLayer& layer : layers) {
      const MapLabels labels = map_labels(model, reading, layer.part);
      for (const Tensor& weights : heads_of(model, reading, layer.name)) {
        ASSERT_EQ(weights.shape(), Shape({labels.rows.size(), labels.columns.size()}))
            << name_of(model.config.kind) << " " << layer.name;
        for (size_t i = 0; i < weights.rows(); ++i) {
          float sum = 0;
          for (const float w : weights.slice_rows(i, 1).span()) sum += w;
          EXPECT_NEAR(sum, 1.0f, 1e-5f) << layer.name << " row " << i;
        }
      }
    }
  }
}

TEST(Reading, HeadsTogetherAreTheirMeanOrTheLargest) {
  const TextModel model = small_transformer_model();
  const Reading reading = given_reading(model, "abcd", "ef");
  const std::vector<Tensor> heads = heads_of(model, reading, "encoder.1.self");
  const Tensor mean = attention_map(model, reading, "encoder.1.self");
  const Tensor most = attention_map(model, reading, "encoder.1.self", HeadChoice::parse("max"));
  const Tensor second = attention_map(model, reading, "encoder.1.self", HeadChoice::parse("1"));
  for (size_t i = 0; i < mean.size(); ++i) {
    const float a = heads[0].span()[i], b = heads[1].span()[i];
    EXPECT_NEAR(mean.span()[i], (a + b) / 2, 1e-7f);
    EXPECT_EQ(most.span()[i], std::max(a, b));
    EXPECT_EQ(second.span()[i], b);
  }
}

TEST(Reading, LabelsSayWhoLooksAtWhom) {
  const TextModel model = small_transformer_model();
  const Reading reading = given_reading(model, "ab", "c");
  const MapLabels cross = map_labels(model, reading, AttentionPart::kCross);
  EXPECT_EQ(cross.rows, (std::vector<std::string>{"c", "</s>"}));
  EXPECT_EQ(cross.columns, (std::vector<std::string>{"a", "b", "</s>"}));
  EXPECT_EQ(map_labels(model, reading, AttentionPart::kDecoder).columns,
            (std::vector<std::string>{"<s>", "c"}));
}

TEST(Reading, UnknownTokensAreLabelledByTheirText) {
  const TextModel model = small_transformer_model();
  const MapLabels cross =
      map_labels(model, given_reading(model, "aß b", "xa"), AttentionPart::kCross);
  EXPECT_EQ(cross.columns, (std::vector<std::string>{"a", "<unk:ß>", "▁", "b", "</s>"}));
  EXPECT_EQ(cross.rows, (std::vector<std::string>{"<unk:x>", "a", "</s>"}));
}

TEST(Reading, WritesNoFurtherThanLearnedPlaces) {
  ModelConfig config = ModelConfig::of_preset("tiny");
  config.transformer.positions = PositionScheme::kLearned;
  config.transformer.max_length = 8;
  const TextModel model = small_model(config);
  const Reading reading = written_reading(model, "abcdefg", {.beam = 1, .min_length = 20});
  EXPECT_EQ(attention_map(model, reading, "decoder.0.cross").rows(), 8u);
}

TEST(Reading, ADecoderLooksBackOnly) {
  const TextModel model = small_transformer_model();
  const Reading reading = given_reading(model, "abcd", "efgh");
  const Tensor map = attention_map(model, reading, "decoder.0.self");
  for (size_t i = 0; i < map.rows(); ++i) {
    for (size_t j = i + 1; j < map.width(); ++j) EXPECT_EQ(map.data()[i * map.stride() + j], 0.0f);
  }
}

TEST(Reading, WritesWhatTheSearchFinds) {
  const TextModel model = small_transformer_model();
  const Reading reading = written_reading(model, "abc", {.beam = 2, .max_length = 5});
  const Tokens source(reading.source, Packing::even(1, reading.source.size()));
  EXPECT_EQ(reading.target,
            search(*model.model, source, {.beam = 2, .max_length = 5})[0].front().tokens);
}

TEST(Reading, AnEmptyTextHasItsEnd) {
  const TextModel model = small_transformer_model();
  const Reading reading = given_reading(model, "", "");
  EXPECT_EQ(attention_map(model, reading, "decoder.1.cross").to_vector(), std::vector{1.0f});
}

TEST(Reading, NamesWhatThereIs) {
  const TextModel model = small_transformer_model();
  const Reading reading = given_reading(model, "ab", "c");
  expect_error<ConfigError>([&] { attention_map(model, reading, "decoder.7.cross"); },
                            "no attention layer 'decoder.7.cross'; there are: encoder.0.self");
  expect_error<ConfigError>(
      [&] { attention_map(model, reading, "encoder.0.self", HeadChoice::parse("2")); },
      "layer encoder.0.self has 2 heads, from 0; there is no head 2");
  expect_error<ConfigError>([] { HeadChoice::parse("best"); }, "unknown head 'best'");
  expect_error<ConfigError>([] { HeadChoice::parse("-1"); }, "unknown head '-1'");
  const TextModel fixed = small_rnn_model("vanilla");
  expect_error<ConfigError>([&] { attention_map(fixed, reading, "decoder.attention"); },
                            "the model has no attention");
  expect_error<ConfigError>([&] { attention_layers(*fixed.model, AttentionPart::kCross); },
                            "the model has no cross attention, nor any other; ask for gradients");
  const TextModel recurrent = small_rnn_model("bahdanau");
  expect_error<ConfigError>([&] { attention_layers(*recurrent.model, AttentionPart::kEncoder); },
                            "the model has no encoder attention; it has: cross");
}

TEST(Overview, ThumbnailsKeepTheLargestOfEachCell) {
  const TextModel model = small_transformer_model();
  const Reading reading = given_reading(model, "abcdefgh", "hgfedcba");
  const Thumbnails small = thumbnails(model, reading, AttentionPart::kCross, 3);
  ASSERT_EQ(small.layers, 2u);
  ASSERT_EQ(small.heads, 2u);
  ASSERT_EQ(small.rows, 3u);
  ASSERT_EQ(small.columns, 3u);
  const Tensor map =
      attention_map(model, reading, "decoder.1.cross", HeadChoice::parse("1"));  // the last one
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
  EXPECT_EQ(thumbnails(model, reading, AttentionPart::kEncoder, 100).columns, 9u);
}

TEST(Overview, ThumbnailsOfLongTextsAreNotBlank) {
  const TextModel model = small_transformer_model();
  const Reading reading = given_reading(model, std::string(600, 'a'), "b");
  const Thumbnails small = thumbnails(model, reading, AttentionPart::kCross, 8);
  const size_t cells = small.rows * small.columns;
  for (size_t head = 0; head < small.layers * small.heads; ++head) {
    EXPECT_EQ(std::ranges::max(std::span(small.cells).subspan(head * cells, cells)), 255);
  }
}

TEST(Overview, EntropyIsThatOfTheRows) {
  const TextModel model = small_transformer_model();
  const Reading reading = given_reading(model, "abcd", "ef");
  const std::vector<AttentionLayer> layers = model.model->attention_layers();
  const auto all = entropies(model, reading, layers);
  ASSERT_EQ(all.size(), layers.size());
  const Tensor map = attention_map(model, reading, layers[0].name, HeadChoice::parse("1"));
  double sum = 0;
  for (const float w : map.span()) sum -= double{w} * std::log(double{w});
  EXPECT_NEAR(double{all[0][1]}, sum / static_cast<double>(map.rows()), 1e-5);
}

// Weights that are negative, or all zero, or do not sum to one.
TEST(Overview, EntropyIsThatOfTheSharesOfARow) {
  for (const Weighting weighting : {Weighting::kIdentity, Weighting::kRelu, Weighting::kSigmoid}) {
    const TextModel model = small_weighting_model(weighting);
    const Reading reading = given_reading(model, "abcd", "ef");
    const std::vector<AttentionLayer> layers = model.model->attention_layers();
    const auto all = entropies(model, reading, layers);
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      const Tensor map = attention_map(model, reading, layers[layer].name, HeadChoice::parse("1"));
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
