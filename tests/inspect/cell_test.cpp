// The arithmetic of a cell: what is shown gives the weight that was used, in every model.
#include "attend/inspect/cell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "attend/attention/intervention.h"
#include "attend/models/conv.h"
#include "attend/models/gpt.h"
#include "tests/errors.h"
#include "tests/inspect/maps.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

constexpr float kClose = 1e-5f;

float sum_of(const std::vector<float>& values) {
  return static_cast<float>(std::accumulate(values.begin(), values.end(), 0.0));
}

// All cells of all heads: the chain ends with the weight of the map, and its parts fit together.
void expect_arithmetic(const TextModel& model, const std::string& what) {
  SCOPED_TRACE(what);
  const bool label = model.model->classifier() != nullptr;
  const Trace trace = given_trace(model, "abc de", label ? "a" : "fgh");
  ASSERT_FALSE(trace.layers.empty());
  for (const AttentionLayer& layer : trace.layers) {
    for (size_t head = 0; head < layer.heads; ++head) {
      const Tensor map = attention_map(model, trace, layer.name, {HeadChoice::Kind::kOne, head});
      for (size_t i = 0; i < map.rows(); ++i) {
        for (size_t j = 0; j < map.width(); ++j) {
          const AttentionCell cell = attention_cell(model, trace, {layer.name, head, i, j}, 100);
          const float weight = map.data()[i * map.stride() + j];
          ASSERT_NEAR(cell.weight, weight, 1e-6f);
          ASSERT_NEAR(cell.steps.back().value, weight, kClose)
              << layer.name << " " << i << " " << j;
          ASSERT_NE(cell.steps.back().name, "changed by an intervention");
          ASSERT_NE(cell.steps.back().name, "knocked out");
          ASSERT_NEAR(sum_of(cell.products), cell.steps.front().value, kClose);
          if (cell.masked.empty() && !cell.k.empty()) {
            ASSERT_EQ(cell.q.size(), cell.products.size());
            ASSERT_EQ(cell.k.size(), cell.products.size());
          }
          ASSERT_EQ(cell.contributions.size(), map.width());
          float shares = 0;
          for (const CellContribution& one : cell.contributions) shares += one.share;
          if (sum_of(cell.weights) != 0.0f) {
            ASSERT_NEAR(shares, 1.0f, 1e-4f);
          }
        }
      }
    }
  }
}

// Small, by settings that kinds have in common, also those of a model inside.
void shrink(ModelConfig& config) {
  constexpr std::pair<std::string_view, size_t> kSmall[] = {
      {"width", 16},         {"hidden", 16},         {"embedding", 16},
      {"feed_forward", 16},  {"attention_width", 0}, {"encoder_layers", 2},
      {"decoder_layers", 2}, {"layers", 2},          {"heads", 2}};
  for (Field& field : fields_of(config.settings).fields) {
    for (const auto& [name, value] : kSmall) {
      if (field.path.substr(field.path.rfind('.') + 1) == name)
        field.set(std::vector{std::to_string(value)});
    }
  }
}

TEST(AttentionCell, GivesTheWeightOfEveryKindOfModel) {
  size_t seen = 0;
  for (const ModelKind& kind : model_kinds()) {
    if (kind.name == "label") continue;  // it has another model inside
    ModelConfig config{std::string(kind.name)};
    shrink(config);
    const TextModel model = small_model(config);
    if (model.model->signature().layers.empty()) continue;
    expect_arithmetic(model, std::string(kind.name));
    ++seen;
  }
  EXPECT_GE(seen, 4u);
  expect_arithmetic(small_label_model(LabelPooling::kAttention), "label");
  expect_arithmetic(small_rnn_model("bahdanau"), "bahdanau");
}

TEST(AttentionCell, GivesTheWeightOfEveryPointOfAttention) {
  const auto with = [](const std::string& what, auto change) {
    ModelConfig config = small_transformer_config();
    change(transformer_of(config));
    expect_arithmetic(small_model(config), what);
  };
  for (const Score score : all_scores()) {
    if (!traits_of(score).reads_keys) continue;
    with(std::string(name_of(score)), [&](TransformerConfig& c) { c.score = score; });
  }
  for (const Weighting weighting :
       {Weighting::kSigmoid, Weighting::kRelu, Weighting::kSparsemax, Weighting::kEntmax15}) {
    with(std::string(name_of(weighting)), [&](TransformerConfig& c) { c.weighting = weighting; });
  }
  for (const PositionScheme positions : {PositionScheme::kRotary, PositionScheme::kAlibi,
                                         PositionScheme::kT5, PositionScheme::kShaw}) {
    with(std::string(name_of(positions)), [&](TransformerConfig& c) { c.positions = positions; });
  }
  with("caps, sinks and norms", [](TransformerConfig& c) {
    c.softcap = 2.0f;
    c.sinks = c.qk_norm = true;
    c.kv_heads = 1;
    c.window = 2;
  });
}

TEST(AttentionCell, GivesTheWeightOfEveryRecurrentAttention) {
  const auto with = [](const std::string& what, auto change) {
    ModelConfig config = ModelConfig::of_preset("luong");
    auto& rnn = config.settings.as<RnnConfig>();
    rnn.embedding = rnn.hidden = 12;
    change(rnn);
    expect_arithmetic(small_model(config), what);
  };
  for (const Score score : all_scores()) {
    with(std::string(name_of(score)), [&](RnnConfig& c) {
      c.attention = score;
      c.longest_source = 20;
    });
  }
  with("local-m", [](RnnConfig& c) {
    c.reach = RnnReach::kLocalM;
    c.window = 2;
  });
  with("local-p", [](RnnConfig& c) {
    c.reach = RnnReach::kLocalP;
    c.window = 2;
  });
  ModelConfig config = ModelConfig::of_preset("bahdanau");
  auto& rnn = config.settings.as<RnnConfig>();
  rnn.embedding = rnn.hidden = 12;
  rnn.coverage = true;
  expect_arithmetic(small_model(config), "coverage");
}

TEST(AttentionCell, SaysWhyAPairIsMasked) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcd", "efg");
  const AttentionCell cell = attention_cell(model, trace, {"decoder.0.self", 1, 1, 2});
  EXPECT_EQ(cell.weight, 0.0f);
  EXPECT_TRUE(cell.masked.starts_with("causal mask")) << cell.masked;
  EXPECT_EQ(cell.steps[cell.steps.size() - 2].name, "mask");
  EXPECT_TRUE(std::isinf(cell.scores[2]));
  EXPECT_TRUE(attention_cell(model, trace, {"decoder.0.self", 1, 1, 1}).masked.empty());
}

TEST(AttentionCell, SaysWhatAnInterventionChanged) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcd", "efg");
  Intervention intervention;
  intervention.knock_out({"decoder.0.cross", 1});
  const AttentionCell cell = attention_cell(model, trace, {"decoder.0.cross", 1, 1, 2});
  EXPECT_EQ(cell.weight, 0.0f);
  EXPECT_EQ(cell.steps.back().name, "knocked out");
  EXPECT_EQ(cell.steps.back().value, 0.0f);
  intervention.mask({"decoder.0.cross", 0}, 1, 2);
  EXPECT_EQ(attention_cell(model, trace, {"decoder.0.cross", 0, 1, 2}).steps.back().name,
            "changed by an intervention");
}

TEST(AttentionCell, IsNamedByItsPlace) {
  const CellPlace place = CellPlace::parse("decoder.1.cross:3:0:12");
  EXPECT_EQ(place.layer, "decoder.1.cross");
  EXPECT_EQ(place.head, 3u);
  EXPECT_EQ(place.query, 0u);
  EXPECT_EQ(place.key, 12u);
  for (const char* const wrong : {"", "a", "a:1:2", ":1:2:3", "a:1:2:x", "a:1:2:", "a:-1:2:3"}) {
    expect_error<ConfigError>([&] { CellPlace::parse(wrong); }, "LAYER:HEAD:QUERY:KEY");
  }
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcd", "efg");
  const auto refuse = [&](const CellPlace& at, const char* message) {
    expect_error<ConfigError>([&] { attention_cell(model, trace, at); }, message);
  };
  refuse({"decoder.9.cross", 0, 0, 0}, "no attention layer 'decoder.9.cross'");
  refuse({"decoder.0.cross", 2, 0, 0}, "there is no head 2");
  refuse({"decoder.0.cross", 0, 4, 0}, "4 queries and 5 keys here, from 0; there is no cell 4, 0");
  refuse({"decoder.0.cross", 0, 0, 5}, "there is no cell 0, 5");
}

TEST(AttentionCell, OfAllHeadsIsThatOfEach) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcd", "efg");
  const auto layers = layers_between(trace.layers, {"target", "source"});
  const std::vector<HeadWeight> all = cell_of_heads(model, trace, layers, 2, 3);
  ASSERT_EQ(all.size(), 4u);
  for (const HeadWeight& one : all) {
    EXPECT_NEAR(one.weight, attention_cell(model, trace, {one.layer, one.head, 2, 3}).weight,
                1e-6f);
  }
}

TEST(AttentionCell, IsPrintedAndWritten) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "abcd", "efg");
  const AttentionCell cell = attention_cell(model, trace, {"decoder.0.cross", 1, 1, 2}, 3);
  const std::string text = cell_text(cell, 60);
  EXPECT_TRUE(text.starts_with("decoder.0.cross, head 1\nf (1) looks at c (2): weight 0.")) << text;
  for (const char* const part : {"q · k", "× scale", "softmax (log-sum-exp", "|w × v|    share"}) {
    EXPECT_NE(text.find(part), text.npos) << part << "\n" << text;
  }
  const auto json = nlohmann::json::parse(cell_json(cell));
  EXPECT_EQ(json["q"].size(), cell.q.size());
  EXPECT_EQ(json["weights"].size(), 5u);
  EXPECT_EQ(json["contributions"].size(), 3u);
  EXPECT_EQ(json["steps"][0]["name"], "q · k");
  EXPECT_EQ(json["key"]["text"], "c");
  EXPECT_EQ(json["weight"].get<float>(), cell.weight);
}

}  // namespace
}  // namespace attend
