// What the explorer answers about encoders: hidden tokens, labels, blocks of maps, points, and what
// fine-tuning changed.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "attend/inspect/cell.h"
#include "attend/inspect/label_saliency.h"
#include "attend/inspect/masked_tokens.h"
#include "attend/inspect/overview.h"
#include "attend/inspect/tuning.h"
#include "attend/serve/answers.h"
#include "tests/decode/filling_model.h"
#include "tests/errors.h"
#include "tests/serve/explorers.h"

namespace attend {
namespace {

using Json = nlohmann::json;

TextModel small_pairs() {
  ModelConfig config("label");
  auto& label = config.settings.as<LabelConfig>();
  label.pair = true;
  make_small(label.encoder.settings.as<TransformerConfig>());
  return small_model(config);
}

class ExplorerEncodersTest : public ExplorerTest {
 protected:
  enum { kMasked, kPairs, kOther };

  size_t run(size_t model, const Json& texts) {
    const auto all = events(encoders_, {{"model", model}, {"texts", texts}});
    EXPECT_EQ(all.back()["event"], "done") << all.back();
    return all.front()["run"];
  }
  size_t masked_run() { return run(kMasked, {{"text", "the cat sat"}}); }
  size_t pair_run() { return run(kPairs, {{"text", "abc"}, {"pair", "de"}}); }
  Trace pair_trace() const {
    return written_trace(pairs_, TraceTexts{{"text", "abc"}, {"pair", "de"}});
  }

  std::vector<Json> points(const Json& request) {
    std::vector<Json> all;
    encoders_.points(request.dump(), [&](const std::string& line) {
      all.push_back(Json::parse(line));
      return true;
    });
    return all;
  }
  std::string points_error(const Json& request) {
    const Json last = points(request).back();
    return last["event"] == "error" ? last["error"].get<std::string>() : "no error";
  }

  TextModel masked_ = filling(), pairs_ = small_pairs();
  std::vector<std::filesystem::path> models_ = {saved("masked", masked_), saved("pairs", pairs_),
                                                saved("other", small_pairs())};
  Explorer encoders_{models_};
};

TEST_F(ExplorerEncodersTest, ModelsSayWhatTheyHave) {
  const Json models = Json::parse(encoders_.models())["models"];
  EXPECT_TRUE(models[kMasked]["masked"]);
  EXPECT_FALSE(models[kPairs]["masked"]);
  EXPECT_TRUE(models[kPairs]["embeds"]);
  EXPECT_FALSE(models[kPairs]["words"]);
}

TEST_F(ExplorerEncodersTest, MaskedTokensAreThoseOfTheRun) {
  const Trace trace = given_trace(masked_, "the cat sat");
  EXPECT_EQ(encoders_.masked(masked_run(), {{"top", "3"}}),
            masked_tokens_json(trace, masked_tokens(masked_, trace, {.top = 3})));
  expect_error<ConfigError>([&] { encoders_.masked(masked_run(), {{"top", "0"}}); }, "use 1 to 50");
  expect_error<ConfigError>([&] { encoders_.masked(pair_run(), {}); }, "label model");
}

TEST_F(ExplorerEncodersTest, LabelsAreThoseOfTheRun) {
  const size_t number = pair_run();
  const LabelSaliency found =
      label_saliency(pairs_, pair_trace(), {.method = LabelMethod::kLeaveOut, .labels = 3});
  EXPECT_EQ(encoders_.labels(number, {{"method", "leave-out"}, {"labels", "3"}, {"keys", "pair"}}),
            label_saliency_json(found, pair_trace(), "pair"));
  expect_error<ConfigError>([&] { encoders_.labels(number, {{"method", "lime"}}); }, "leave-out");
  expect_error<ConfigError>([&] { encoders_.labels(masked_run(), {}); }, "label");
}

TEST_F(ExplorerEncodersTest, BlocksAreCutOutOfMaps) {
  const size_t number = pair_run();
  const Trace trace = pair_trace();
  const std::string layer = trace.layers.front().name;
  const MapBlock block = block_between(trace, {"pair", "text"}).value();
  const Tensor whole = attention_map(pairs_, trace, layer, {HeadChoice::Kind::kOne, 1});
  EXPECT_EQ(encoders_.map(number,
                          {{"layer", layer}, {"head", "1"}, {"queries", "pair"}, {"keys", "text"}}),
            map_bytes(block.of(whole)));
  const Tensor mean = mean_map(pairs_, trace, {"texts", "texts"});
  EXPECT_EQ(encoders_.map(number, {{"reduction", "mean"}, {"queries", "pair"}, {"keys", "text"}}),
            map_bytes(block.of(mean)));
  const std::string small = encoders_.thumbnails(number, {{"queries", "pair"}, {"keys", "text"}});
  EXPECT_EQ(small.size(), 16 + 2 * 2 * 4 + 2 * 2 * block.rows * block.columns);
}

TEST_F(ExplorerEncodersTest, CellsOfABlockAreThoseOfTheWhole) {
  const size_t number = pair_run();
  const Trace trace = pair_trace();
  const std::string layer = trace.layers.front().name;
  const size_t first = trace.sequence("text").size();
  const auto cell = [&](const std::string& row, const std::string& column) {
    return encoders_.cell(number, {{"layer", layer},
                                   {"head", "0"},
                                   {"row", row},
                                   {"column", column},
                                   {"queries", "text"},
                                   {"keys", "pair"}});
  };
  EXPECT_EQ(cell("1", "0"), cell_json(attention_cell(pairs_, trace, {layer, 0, 1, first})));
  expect_error<ConfigError>([&] { cell("1", "99"); }, "outside the block");
  const Json heads = Json::parse(encoders_.cell(
      number, {{"row", "1"}, {"column", "0"}, {"queries", "text"}, {"keys", "pair"}}));
  EXPECT_EQ(heads["heads"].size(), 4u);
}

TEST_F(ExplorerEncodersTest, WhatChangedIsFromAnotherModel) {
  const size_t number = pair_run();
  const Json change = Json::parse(encoders_.change(number, {{"base", std::to_string(kOther)}}));
  EXPECT_EQ(change["layers"][0]["weights"], 0.0);  // both have the same weights
  EXPECT_EQ(change["items"].size(),
            change["cosines"].empty() ? change["items"].size() : change["cosines"][0].size());
  const Json none = Json::parse(encoders_.change(number, {{"base", std::to_string(kMasked)}}));
  EXPECT_TRUE(none["unrelated"].get<std::string>().starts_with("base: ")) << none;
  expect_error<NotFound>([&] { encoders_.change(number, {{"base", "7"}}); }, "no model 7");
}

TEST_F(ExplorerEncodersTest, LinesAreShownAsPoints) {
  const auto all =
      points({{"model", kMasked}, {"of", "lines"}, {"lines", "the cat\tx\n\nthe dog\ty\na mat\n"}});
  EXPECT_EQ(all.front()["event"], "progress");
  const Json& done = all.back();
  ASSERT_EQ(done["event"], "done") << done;
  ASSERT_EQ(done["points"].size(), 3u);
  EXPECT_EQ(done["points"][1]["text"], "the dog");
  EXPECT_EQ(done["points"][1]["label"], "y");
  EXPECT_EQ(done["points"][2]["label"], "");
  EXPECT_EQ(done["title"], "PCA");
}

TEST_F(ExplorerEncodersTest, WordsAreShownAsPoints) {
  const Json done =
      points({{"model", kMasked}, {"of", "words"}, {"most", 6}, {"method", "tsne"}}).back();
  ASSERT_EQ(done["event"], "done") << done;
  ASSERT_EQ(done["points"].size(), 6u);
  const Tokenizer& tokenizer = masked_.tokenizer("text");
  EXPECT_EQ(done["points"][0]["text"], tokenizer.piece(tokenizer.first_piece()));
}

TEST_F(ExplorerEncodersTest, PointsSayWhatIsWrong) {
  EXPECT_NE(points_error({{"of", "texts"}}).find("has no text of its training"), std::string::npos);
  EXPECT_NE(points_error({{"of", "lines"}}).find("no lines"), std::string::npos);
  EXPECT_NE(points_error({{"of", "lines"}, {"lines", "a"}}).find("at least 2"), std::string::npos);
  EXPECT_NE(
      points_error({{"of", "lines"}, {"lines", "a\nb"}, {"method", "tsne"}}).find("at least 5"),
      std::string::npos);
  EXPECT_NE(points_error({{"of", "pixels"}}).find("texts, words, lines"), std::string::npos);
  EXPECT_NE(points_error({{"most", 1}}).find("from 2 to 2000"), std::string::npos);
  EXPECT_NE(points_error({{"most", -5}}).find("most is not a whole number"), std::string::npos);
  EXPECT_NE(points_error({{"lines", 3}, {"of", "lines"}}).find("not a string"), std::string::npos);
  EXPECT_NE(points_error(Json::array()).find("not a JSON object"), std::string::npos);
  EXPECT_NE(points_error({{"model", 9}}).find("no model 9"), std::string::npos);
}

TEST_F(ExplorerEncodersTest, PointsStopWhereNobodyListens) {
  size_t lines = 0;
  encoders_.points(R"({"of": "lines", "lines": "a\nb"})", [&](const std::string&) {
    ++lines;
    return false;
  });
  EXPECT_EQ(lines, 1u);
}

}  // namespace
}  // namespace attend
