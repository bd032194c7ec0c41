// What fine-tuning changed, on models whose change is known.
#include "attend/inspect/tuning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/inspect/draw.h"
#include "attend/models/bert.h"
#include "tests/errors.h"
#include "tests/inspect/maps.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

BertConfig tuned_bert() {
  BertConfig bert;
  bert.width = 16, bert.heads = 2, bert.layers = 2, bert.max_length = 32;
  bert.init = 0.3f;
  return bert;
}

TextModel base_bert(bool pair = false) {
  ModelConfig config("bert");
  config.settings.as<BertConfig>() = tuned_bert();
  config.settings.as<BertConfig>().head.pair = pair;
  return small_model(config);
}

// A label model around the same encoder, with the weights of the base.
TextModel tuned_from(const TextModel& base, bool pair = false) {
  ModelConfig config("label");
  auto& label = config.settings.as<LabelConfig>();
  label.pair = pair;
  label.encoder = EncoderConfig("bert");
  label.encoder.settings = AnyConfig(tuned_bert());
  TextModel model = small_model(config);
  const auto from = parameters(*base.model->shared_encoder());
  const auto to = parameters(*model.model->shared_encoder());
  EXPECT_EQ(from.size(), to.size());
  for (size_t i = 0; i < from.size(); ++i) {
    std::ranges::copy(from[i].tensor.span(), to[i].tensor.data());
  }
  return model;
}

void scale_layer(const TextModel& model, const std::string& layer, float factor) {
  for (const NamedTensor& t : parameters(*model.model->shared_encoder())) {
    if (!t.name.starts_with(layer)) continue;
    for (float& value : t.tensor.span()) value *= factor;
  }
}

TEST(Tuning, AnUnchangedModelHasNoChange) {
  const TextModel base = base_bert(), tuned = tuned_from(base);
  const Trace trace = given_trace(tuned, "abc", "a");
  const TuningChange change = tuning_change(base, tuned, trace);
  std::vector<std::string> names;
  for (const LayerChange& layer : change.layers) {
    EXPECT_EQ(layer.weights, 0.0) << layer.name;
    EXPECT_GT(layer.parameters, 0u);
    names.push_back(layer.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"embedding", "layers.0", "layers.1"}));
  EXPECT_EQ(change.stages, (std::vector<std::string>{"embedding", "layers.0", "layers.1"}));
  EXPECT_EQ(change.items, (std::vector<std::string>{"<s>", "a", "b", "c", "</s>"}));
  ASSERT_EQ(change.cosines.size(), 15u);
  for (const float cosine : change.cosines) EXPECT_NEAR(cosine, 1.0f, 1e-5f);
  EXPECT_GT(change.fresh, 0u);  // the output over labels
  EXPECT_GT(change.left, 0u);   // the head that predicts tokens
}

TEST(Tuning, WeightsOfALayerChangeByTheirShare) {
  const TextModel base = base_bert(), tuned = tuned_from(base);
  scale_layer(tuned, "layers.1.", 1.25f);
  const Trace trace = given_trace(tuned, "abc", "a");
  const TuningChange change = tuning_change(base, tuned, trace);
  EXPECT_EQ(change.layers[1].weights, 0.0);
  EXPECT_NEAR(change.layers[2].weights, 0.25, 1e-6);
  for (size_t item = 0; item < change.items.size(); ++item) {
    EXPECT_NEAR(change.cosine_at(0, item), 1.0f, 1e-5f);
    EXPECT_NEAR(change.cosine_at(1, item), 1.0f, 1e-5f);
    EXPECT_LT(change.cosine_at(2, item), 0.9999f);  // what is above the change
  }
}

TEST(Tuning, AttentionStandsBesideThatOfTheBase) {
  const TextModel base = base_bert(), tuned = tuned_from(base);
  scale_layer(tuned, "layers.1.", 1.5f);
  const Trace trace = given_trace(tuned, "abc", "a");
  const std::vector<HeatMap> maps =
      compared_attention(base, tuned, trace, trace.layers, {HeadChoice::Kind::kOne, 1});
  ASSERT_EQ(maps.size(), 6u);
  EXPECT_TRUE(maps[0].title.starts_with("base: layers.0")) << maps[0].title;
  EXPECT_TRUE(maps[4].title.starts_with("tuned: layers.1"));
  EXPECT_TRUE(maps[5].title.starts_with("difference: "));
  EXPECT_EQ(maps[3].most, maps[4].most);
  EXPECT_TRUE(maps[5].has_sign);
  float most = 0;
  for (size_t row = 0; row < 5; ++row) {
    for (size_t column = 0; column < 5; ++column) {
      EXPECT_EQ(maps[5].at(row, column), maps[4].at(row, column) - maps[3].at(row, column));
      EXPECT_NEAR(maps[2].at(row, column), 0.0f, 1e-6f);
      most = std::max(most, std::abs(maps[5].at(row, column)));
    }
  }
  EXPECT_GT(most, 1e-4f);
}

// A base of one text reads two as one, and one of two an empty second one.
TEST(Tuning, PairsAndSingleTextsAreCompared) {
  for (const bool of_base : {false, true}) {
    for (const bool of_tuned : {false, true}) {
      const TextModel base = base_bert(of_base), tuned = tuned_from(base, of_tuned);
      TraceTexts texts = {{"text", "abc"}, {"label", "a"}};
      if (of_tuned) texts["pair"] = "de";
      const Trace trace = given_trace(tuned, texts);
      const TuningChange change = tuning_change(base, tuned, trace);
      EXPECT_EQ(change.items.size(), of_tuned ? 8u : 5u);
      EXPECT_EQ(change.stages.size(), 3u);
      if (of_base == of_tuned) {
        for (const float cosine : change.cosines) EXPECT_NEAR(cosine, 1.0f, 1e-5f);
      }
      const auto maps = compared_attention(base, tuned, trace, trace.layers);
      EXPECT_EQ(maps.size(), 6u);
      EXPECT_EQ(maps[0].rows.size(), change.items.size());
    }
  }
}

TEST(Tuning, TwoModelsOfAnyKindAreCompared) {
  for (const TextModel& model : {small_transformer_model(), small_language_model(),
                                 small_decoder_only_model(), small_rnn_model("bahdanau")}) {
    const Trace trace = given_trace(model, "abc", "de");
    const TuningChange change = tuning_change(model, model, trace);
    for (const LayerChange& layer : change.layers) EXPECT_EQ(layer.weights, 0.0);
    for (const float cosine : change.cosines) EXPECT_NEAR(cosine, 1.0f, 1e-5f);
    const auto maps = compared_attention(model, model, trace, trace.layers);
    EXPECT_EQ(maps.size(), 3 * trace.layers.size());
  }
}

TEST(Tuning, PicturesHaveTheLastLayerOnTop) {
  const TextModel base = base_bert(), tuned = tuned_from(base);
  scale_layer(tuned, "layers.0.", 1.25f);
  const TuningChange change = tuning_change(base, tuned, given_trace(tuned, "abc", "a"));
  const HeatMap map = tuning_picture(change);
  ASSERT_EQ(map.rows.size(), 3u);
  EXPECT_EQ(map.rows[0], "layers.1, weights 0 %");
  EXPECT_EQ(map.rows[1], "layers.0, weights 25 %");
  EXPECT_NEAR(map.at(1, 2), 1.0f - change.cosine_at(1, 2), 1e-6f);
  EXPECT_FALSE(draw_maps({&map, 1}, PictureFormat::kSvg).empty());
  const auto json = nlohmann::json::parse(tuning_json(change));
  EXPECT_EQ(json["layers"][1]["name"], "layers.0");
  EXPECT_NEAR(json["layers"][1]["weights"].get<double>(), 0.25, 1e-6);
  EXPECT_EQ(json["cosines"].size(), 3u);
}

TEST(Tuning, SaysWhatDoesNotFit) {
  const TextModel base = base_bert(), tuned = tuned_from(base);
  const Trace trace = given_trace(tuned, "abc", "a");
  const TextModel transformer = small_transformer_model();
  expect_error<ConfigError>([&] { tuning_change(transformer, tuned, trace); },
                            "it reads 'source', which the model has not");
  TextModel other = base_bert();
  const std::vector<std::string> lines = {"zyxwvut"};
  other.tokenizers["text"] = train_tokenizer({.kind = TokenizerKind::kCharacter}, lines);
  expect_error<ConfigError>([&] { tuning_change(other, tuned, trace); }, "other tokens");
  expect_error<ConfigError>(
      [&] {
        compared_attention(base, tuned, trace, trace.layers, {HeadChoice::Kind::kOne, 7});
      },
      "no head 7");
}

}  // namespace
}  // namespace attend
