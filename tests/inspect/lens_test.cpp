// The logit lens: its numbers, and its pictures.
#include "attend/inspect/lens.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "attend/attention/intervention.h"
#include "attend/inspect/attention_maps.h"
#include "attend/inspect/lens_pictures.h"
#include "attend/kernels/top_k.h"
#include "attend/models/gpt.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/inspect/maps.h"
#include "tests/inspect/traces.h"
#include "tests/models/small_settings.h"

namespace attend {
namespace {

TextModel small_gpt_model() {
  ModelConfig config("gpt");
  auto& gpt = config.settings.as<GptConfig>();
  gpt.width = 16, gpt.layers = 2, gpt.heads = 2;
  gpt.init = 0.5f;  // the layers differ
  return small_model(config);
}

std::string long_text(size_t length) {
  std::string text;
  for (size_t i = 0; i < length; ++i) text += static_cast<char>('a' + i * i % 8);
  return text;
}

// The rank and the probability of the token that was written, from all logits of a position.
void expect_written(const Candidates& cell, std::span<const float> logits, int32_t written) {
  const float own = logits[static_cast<size_t>(written)];
  size_t rank = 1;
  double sum = 0;
  for (const float x : logits) {
    rank += x > own ? 1 : 0;
    sum += std::exp(static_cast<double>(x) - own);
  }
  EXPECT_EQ(cell.rank, rank);
  EXPECT_NEAR(cell.probability, 1.0 / sum, 1e-6);
}

// The cells of the last stage are what the model gives, to the bit.
void expect_own_output(const TextModel& model, const Trace& trace) {
  const size_t top = 3;
  const LogitLens lens = logit_lens(model, trace, top);
  const NoGrad no_grad;
  const Tensor logits = logits_of(model, trace);
  std::vector<int32_t> ids(logits.rows() * top);
  std::vector<float> log_probabilities(ids.size());
  kernels::top_k({logits.data(), logits.rows(), logits.width(), logits.stride()}, top, ids.data(),
                 log_probabilities.data());
  const size_t last = lens.stages.size() - 1;
  ASSERT_EQ(lens.positions(), logits.rows());
  for (size_t i = 0; i < logits.rows(); ++i) {
    const Candidates& cell = lens.at(last, i);
    ASSERT_EQ(cell.likeliest.size(), top);
    for (size_t j = 0; j < top; ++j) {
      EXPECT_EQ(cell.likeliest[j].id, ids[i * top + j]);
      EXPECT_EQ(cell.likeliest[j].probability, std::exp(log_probabilities[i * top + j]));
    }
    expect_written(cell, logits.slice_rows(i, 1).span(), trace.written()->written[i]);
  }
}

TEST(LogitLens, TheLastStageIsTheModelsOwnOutput) {
  const TextModel gpt = small_gpt_model();
  expect_own_output(gpt, given_trace(gpt, "abc", "de"));
  expect_own_output(gpt, given_trace(gpt, long_text(300)));  // read in several parts
  const TextModel transformer = small_transformer_model();
  expect_own_output(transformer, given_trace(transformer, "abc", "fgh"));
}

// Two layers of any language model that the registry has.
TextModel small_of_kind(const std::string& kind) {
  ModelConfig config(kind);
  make_small(config.settings);
  return small_model(config);
}

TEST(LogitLens, EveryLanguageModelHasOne) {
  size_t models = 0;
  for (const std::string& kind : model_kind_names()) {
    const TextModel model = small_of_kind(kind);
    const std::vector<ColumnSpec> columns = model.model->signature().columns;
    if (columns.size() > 1 || !columns.front().written) continue;
    ++models;
    EXPECT_TRUE(has_logit_lens(model)) << kind;
    expect_own_output(model, given_trace(model, long_text(20)));
  }
  EXPECT_GE(models, 4u);
}

// A convolution's output layer reads the sum of skip connections, which nothing is in before the
// first layer; one that is not as wide as states cannot read embeddings.
TEST(LogitLens, ShowsTheEmbeddingWhereTheOutputLayerCanReadIt) {
  const auto stages = [](const TextModel& model) {
    return logit_lens(model, given_trace(model, "abc")).stages;
  };
  const std::vector<std::string> layers = {"layers.0", "layers.1"};
  EXPECT_EQ(stages(small_of_kind("causal_conv")), layers);
  for (const char* kind : {"lstm", "lstmn"}) {
    EXPECT_EQ(stages(small_of_kind(kind)).front(), "embedding");
    ModelConfig config(kind);
    make_small(config.settings);
    set_flag(config.settings, "embedding", "8");
    EXPECT_EQ(stages(small_model(config)), layers) << kind;
  }
}

TEST(LogitLens, HasAStageForEachLayer) {
  const TextModel gpt = small_gpt_model();
  const LogitLens lens = logit_lens(gpt, given_trace(gpt, "abc"));
  EXPECT_EQ(lens.stages, (std::vector<std::string>{"embedding", "layers.0", "layers.1"}));
  EXPECT_EQ(lens.items, (std::vector<std::string>{"<s>", "a", "b", "c"}));
  EXPECT_EQ(lens.written, (std::vector<std::string>{"a", "b", "c", "</s>"}));
  const TextModel transformer = small_transformer_model();
  EXPECT_EQ(logit_lens(transformer, given_trace(transformer, "abc", "de")).stages,
            (std::vector<std::string>{"embedding", "decoder.0", "decoder.1"}));
}

// A tied embedding says the token itself before any layer: an unscaled table finds itself.
TEST(LogitLens, SaysWhereTheWrittenTokenStands) {
  const TextModel model = small_gpt_model();
  const Trace trace = given_trace(model, "abcd");
  const size_t all = model.tokenizer("text").size();
  const LogitLens lens = logit_lens(model, trace, all);
  for (size_t stage = 0; stage < lens.stages.size(); ++stage) {
    for (size_t i = 0; i < lens.positions(); ++i) {
      const Candidates& cell = lens.at(stage, i);
      ASSERT_EQ(cell.likeliest.size(), all);
      const CandidateToken& own = cell.likeliest[cell.rank - 1];
      EXPECT_EQ(own.text, lens.written[i]);
      EXPECT_NEAR(own.probability, cell.probability, 1e-6f);
      float sum = 0;
      for (const CandidateToken& token : cell.likeliest) sum += token.probability;
      EXPECT_NEAR(sum, 1.0f, 1e-5f);
    }
  }
}

TEST(LogitLens, FollowsAnIntervention) {
  const TextModel model = small_gpt_model();
  const Trace trace = given_trace(model, "abcd");
  const LogitLens before = logit_lens(model, trace);
  Intervention intervention;
  intervention.knock_out({"layers.1.self"});
  const LogitLens after = logit_lens(model, trace);
  for (size_t i = 0; i < before.positions(); ++i) {
    EXPECT_EQ(after.at(1, i).probability, before.at(1, i).probability);  // earlier
    EXPECT_NE(after.at(2, i).probability, before.at(2, i).probability);
  }
}

TEST(LogitLens, ModelsWithoutOneSayWhy) {
  const TextModel label = small_label_model(LabelPooling::kFirst);
  expect_error<ConfigError>([&] { logit_lens(label, given_trace(label, "abc", "a")); },
                            "writes no tokens");
  const TextModel rnn = small_rnn_model("bahdanau");
  expect_error<ConfigError>([&] { logit_lens(rnn, given_trace(rnn, "abc", "de")); },
                            "no rows that its output layer can read");
  const TextModel gpt = small_gpt_model();
  EXPECT_FALSE(has_logit_lens(label));
  EXPECT_FALSE(has_logit_lens(rnn));
  EXPECT_TRUE(has_logit_lens(gpt));
  EXPECT_TRUE(has_logit_lens(small_transformer_model()));
  const Trace trace = given_trace(gpt, "abc");
  expect_error<ConfigError>([&] { logit_lens(gpt, trace, 0); }, "use 1 to 50");
  expect_error<ConfigError>([&] { logit_lens(gpt, trace, 51); }, "use 1 to 50");
  expect_error<ConfigError>([&] { draw_lens(logit_lens(gpt, trace), PictureFormat::kMoses); },
                            "no word links");
}

LogitLens small_lens() {
  LogitLens lens{.stages = {"embedding", "layers.0"}, .items = {"<s>", "<"}, .written = {"<", "b"}};
  lens.cells = {{{{1, "x", 0.1f}}, 0.05f, 3},
                {{{2, "y", 0.3f}}, 0.2f, 2},
                {{{3, "<", 0.9f}}, 0.9f, 1},
                {{{4, "שלום", 0.6f}}, 0.1f, 4}};
  return lens;
}

TEST(LensPictures, TheTerminalHasTheLastLayerOnTop) {
  const std::string text = draw_lens(small_lens(), PictureFormat::kTerminal);
  const std::vector<std::string> lines = lines_of(text);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[0].starts_with("layers.0  <   █")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("embedding x   ░")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("reads     <s> ")) << lines[2];
  EXPECT_TRUE(lines[3].starts_with("next      <   ")) << lines[3];
}

TEST(LensPictures, ANarrowTerminalHasBands) {
  const TextModel model = small_gpt_model();
  const LogitLens lens = logit_lens(model, given_trace(model, long_text(40)));
  for (const ColourDepth depth : {ColourDepth::kNone, ColourDepth::k256, ColourDepth::k24Bit}) {
    const std::string text =
        draw_lens(lens, PictureFormat::kTerminal, {.columns = 40, .colours = depth});
    EXPECT_GT(count(text, "layers.1"), 3u);
    for (const std::string& line : lines_of(without_colours(text))) {
      size_t columns = 0;
      for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      EXPECT_LE(columns, 40u) << line;
    }
  }
}

TEST(LensPictures, SvgAndHtmlNameEveryCell) {
  const std::string svg = draw_lens(small_lens(), PictureFormat::kSvg);
  EXPECT_EQ(count(svg, "<title>"), 4u);
  EXPECT_NE(svg.find("&lt;  0.900\nnext: &lt;, rank 1, probability 0.9"), svg.npos);
  const std::string html = draw_lens(small_lens(), PictureFormat::kHtml);
  EXPECT_EQ(count(html, "<td class="), 4u);
  EXPECT_NE(html.find("rank 4"), html.npos);
}

// Of the tokens that were written, stage by stage.
TEST(LensPictures, NpyHasTheProbabilities) {
  const std::string bytes = draw_lens(small_lens(), PictureFormat::kNpy);
  EXPECT_NE(bytes.find("'shape': (2, 2)"), bytes.npos);
  std::vector<float> values(4);
  ASSERT_GT(bytes.size(), 16u);
  std::memcpy(values.data(), bytes.data() + bytes.size() - 16, 16);
  EXPECT_EQ(values, (std::vector<float>{0.05f, 0.2f, 0.9f, 0.1f}));
}

TEST(LensPictures, JsonHasAllNumbers) {
  const auto json = nlohmann::json::parse(draw_lens(small_lens(), PictureFormat::kJson));
  EXPECT_EQ(json["stages"].size(), 2u);
  EXPECT_EQ(json["cells"][1][0]["likeliest"][0], (nlohmann::json{"<", 0.9}));
  EXPECT_EQ(json["cells"][1][1]["rank"], 4);
  EXPECT_EQ(json["cells"][0][0]["probability"], 0.05);
  EXPECT_EQ(json["written"], (nlohmann::json{"<", "b"}));
}

}  // namespace
}  // namespace attend
