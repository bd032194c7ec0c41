// What the explorer answers.
#include "attend/serve/explorer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "attend/inspect/overview.h"
#include "attend/inspect/saliency.h"
#include "attend/inspect/snapshot.h"
#include "tests/damage.h"
#include "tests/errors.h"
#include "tests/serve/explorers.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Parameters = Explorer::Parameters;

struct MapOf {
  uint32_t rows = 0, columns = 0;
  std::vector<float> values;

  explicit MapOf(const std::string& bytes) {
    std::memcpy(&rows, bytes.data(), 4);
    std::memcpy(&columns, bytes.data() + 4, 4);
    values.resize((bytes.size() - 8) / 4);
    std::memcpy(values.data(), bytes.data() + 8, values.size() * 4);
  }
};

TEST_F(ExplorerTest, DescribesItsModels) {
  const Json models = Json::parse(explorer_.models())["models"];
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0]["kind"], "transformer");
  EXPECT_EQ(models[0]["layers"].size(), 6u);
  EXPECT_EQ(models[0]["layers"][3]["part"], "cross");
  EXPECT_TRUE(models[1]["layers"].empty());
}

TEST_F(ExplorerTest, TellsHowATextIsWritten) {
  const auto all = events(explorer_, {{"source", "abcd"}, {"beam", 2}, {"top", 4}});
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(all.front()["event"], "source");
  EXPECT_EQ(all.front()["tokens"], Json({"a", "b", "c", "d", "</s>"}));
  const Json& done = all.back();
  ASSERT_EQ(done["event"], "done");
  EXPECT_EQ(done["hypotheses"].size(), 2u);
  const Reading best = written_reading(model_, "abcd", {.beam = 2});
  EXPECT_EQ(done["text"], model_.target->decode(best.target));
  for (size_t i = 1; i + 1 < all.size(); ++i) {
    ASSERT_EQ(all[i]["event"], "step");
    EXPECT_GE(all[i]["nodes"].size(), 4u);
    float sum = 0;
    for (const float w : all[i]["row"]) sum += w;
    EXPECT_NEAR(sum, 1.0f, 1e-5f);
  }
}

TEST_F(ExplorerTest, ForcesAGivenText) {
  const auto all = events(explorer_, {{"source", "abcd"}, {"target", "ef"}, {"top", 3}});
  ASSERT_EQ(all.size(), 5u);  // source, two tokens, the end, done
  EXPECT_EQ(all[1]["nodes"][0]["token"], "e");
  EXPECT_EQ(all[1]["nodes"][0]["kept"], true);
  EXPECT_EQ(all[2]["nodes"][0]["parent"], all[1]["nodes"][0]["id"]);
  EXPECT_EQ(all[4]["text"], "ef");
  const Tensor mean = mean_map(model_, given_reading(model_, "abcd", "ef"), AttentionPart::kCross);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(all[2]["row"][i].get<float>(), mean.data()[mean.stride() + i], 1e-6f);
  }
  EXPECT_EQ(all[4]["path"].size(), 3u);
}

// Whatever the request, it ends with an event: done, or an error that says something.
TEST_F(ExplorerTest, DamagedRequestsEndWell) {
  const Json whole = {{"model", 0}, {"source", "ab"}, {"target", "e"}, {"beam", 2}, {"top", 3}};
  std::mt19937 random(1);  // NOLINT: the same every time
  size_t errors = 0, done = 0;
  for (int i = 0; i < 500; ++i) {
    Json last;
    explorer_.start_run(damaged(whole.dump(), random), [&](const std::string& line) {
      last = Json::parse(line);
      return true;
    });
    ASSERT_TRUE(last.contains("event"));
    if (last["event"] == "done") {
      ++done;
    } else {
      ++errors;
      ASSERT_FALSE(last["error"].get<std::string>().empty());
    }
  }
  EXPECT_GT(errors, 100u);
  EXPECT_GT(done, 10u);
}

TEST_F(ExplorerTest, GivesMapsAsBytes) {
  const size_t run = events(explorer_, {{"source", "abcd"}, {"target", "ef"}})[0]["run"];
  const MapOf map(explorer_.map(run, {{"layer", "decoder.1.cross"}, {"head", "1"}}));
  ASSERT_EQ(map.rows, 3u);
  ASSERT_EQ(map.columns, 5u);
  const Tensor direct = attention_map(model_, given_reading(model_, "abcd", "ef"),
                                      "decoder.1.cross", HeadChoice::parse("1"));
  EXPECT_EQ(map.values, direct.to_vector());
  EXPECT_EQ(MapOf(explorer_.map(run, {{"reduction", "rollout"}, {"part", "encoder"}})).rows, 5u);
  EXPECT_EQ(MapOf(explorer_.map(run, {{"reduction", "flow"}})).rows, 3u);
  const MapOf mean(explorer_.map(run, {{"reduction", "mean"}, {"part", "decoder"}}));
  EXPECT_NEAR(mean.values[3] + mean.values[4] + mean.values[5], 1.0f, 1e-5f);  // a row
  const std::string small = explorer_.thumbnails(run, {{"part", "cross"}, {"size", "2"}});
  ASSERT_EQ(small.size(), 16u + 2 * 2 * (4 + 2 * 2));
  const auto layers = attention_layers(*model_.model, AttentionPart::kCross);
  const auto entropy = entropies(model_, given_reading(model_, "abcd", "ef"), layers);
  EXPECT_EQ(std::memcmp(small.data() + 16, entropy[0].data(), 8), 0);
  EXPECT_EQ(std::memcmp(small.data() + 24, entropy[1].data(), 8), 0);
  EXPECT_EQ(Json::parse(explorer_.labels(run, {{"part", "decoder"}}))["rows"],
            Json({"<s>", "e", "f"}));
}

TEST_F(ExplorerTest, GivesRowsOfSaliencyAsTheyAreKnown) {
  const std::string source(500, 'a');
  const size_t run = events(explorer_, {{"source", source}, {"target", "efgh"}})[0]["run"];
  std::vector<std::string> pieces;
  explorer_.saliency(run, {{"method", "gradient"}})([&](const std::string& bytes) {
    const MapOf other(explorer_.map(run, {{"layer", "decoder.0.cross"}}));  // has its turn
    EXPECT_EQ(other.rows, 5u);
    pieces.push_back(bytes);
    return true;
  });
  EXPECT_EQ(pieces.size(), 3u);  // of two tokens each
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  const MapOf map(all);
  const Tensor direct = saliency(model_, given_reading(model_, source, "efgh")).source;
  ASSERT_EQ(map.values.size(), direct.size());
  for (size_t i = 0; i < direct.size(); ++i) {
    EXPECT_NEAR(map.values[i], direct.span()[i], 1e-5f);
  }
}

TEST_F(ExplorerTest, StopsWhenNobodyWaitsForSaliency) {
  const size_t run =
      events(explorer_, {{"source", std::string(500, 'a')}, {"target", "efgh"}})[0]["run"];
  size_t asked = 0;
  explorer_.saliency(run, {{"method", "integrated"}})([&](const std::string& bytes) {
    EXPECT_TRUE(bytes.empty());  // no row is whole yet
    return ++asked < 3;
  });
  EXPECT_EQ(asked, 3u);
  expect_error<ConfigError>([&] { explorer_.saliency(run, {{"method", "lime"}}); }, "gradient");
  expect_error<NotFound>([&] { explorer_.saliency(99, {}); }, "run 99");
}

TEST_F(ExplorerTest, ShowsOtherLeavesOfTheTree) {
  const auto all = events(explorer_, {{"source", "abcd"}, {"beam", 2}});
  const Json second = all.back()["hypotheses"][1];
  std::string path;
  for (const size_t node : second["path"]) path += (path.empty() ? "" : ",") + std::to_string(node);
  const size_t run = all[0]["run"];
  const Json labels = Json::parse(explorer_.labels(run, {{"path", path}}));
  EXPECT_EQ(MapOf(explorer_.map(run, {{"layer", "decoder.0.cross"}, {"path", path}})).rows,
            labels["rows"].size());
  std::string text;
  for (const std::string piece : labels["rows"]) text += piece == "</s>" ? "" : piece;
  std::string expected = second["text"];
  for (size_t at = 0; (at = expected.find(' ')) != std::string::npos;) expected.replace(at, 1, "▁");
  EXPECT_EQ(text, expected);
}

TEST_F(ExplorerTest, ShowsWhatAGivenTextCouldHaveBeen) {
  const auto all = events(explorer_, {{"source", "abcd"}, {"target", "ef"}, {"top", 3}});
  const Json pruned = all[2]["nodes"][1];
  ASSERT_EQ(pruned["kept"], false);
  const Parameters path = {{"path", pruned["id"].dump()}, {"layer", "decoder.0.cross"}};
  const Json labels = Json::parse(explorer_.labels(all[0]["run"], path));
  EXPECT_EQ(labels["rows"], Json({"e", pruned["token"], "</s>"}));
  EXPECT_EQ(MapOf(explorer_.map(all[0]["run"], path)).rows, 3u);
  expect_error<NotFound>([&] { explorer_.map(all[0]["run"], {{"path", "999"}}); }, "no node 999");
}

TEST_F(ExplorerTest, ARunIsThereWhenItsEndIsTold) {
  explorer_.start_run(R"({"source": "abc"})", [&](const std::string& line) {
    const Json event = Json::parse(line);
    if (event["event"] != "done") return true;
    EXPECT_EQ(Json::parse(explorer_.run(1))["text"], event["text"]);
    return true;
  });
}

TEST_F(ExplorerTest, LabelModelsShowTheirText) {
  ModelConfig config;
  config.kind = ModelKind::kLabel;
  config.label.pooling = LabelPooling::kFirst;
  config.transformer.width = 16;
  config.transformer.heads = 2;
  const std::vector<std::filesystem::path> path = {saved("label", small_model(config))};
  Explorer explorer(path);
  const auto all = events(explorer, {{"source", "abc"}});
  ASSERT_EQ(all.back()["event"], "done");
  const size_t run = all[0]["run"];
  const Json labels = Json::parse(explorer.labels(run, {{"part", "encoder"}}));
  EXPECT_EQ(labels["rows"], Json({"<s>", "a", "b", "c", "</s>"}));
  EXPECT_EQ(MapOf(explorer.map(run, {{"layer", "encoder.0.self"}})).rows, 5u);
  expect_error<ConfigError>(
      [&] {
        explorer.map(run, {{"reduction", "rollout"}});
      },
      "the model has no cross attention");
}

TEST_F(ExplorerTest, WeightsThatAreNoNumbersAreAnError) {
  for (const NamedTensor& p : parameters(*model_.model)) {
    std::ranges::fill(p.tensor.span(), std::numeric_limits<float>::quiet_NaN());
  }
  const std::vector<std::filesystem::path> path = {saved("broken", model_)};
  Explorer explorer(path);
  const std::string none = "search: the model gives no numbers; its weights are not finite";
  EXPECT_EQ(events(explorer, {{"source", "abc"}}).back()["error"], none);
  EXPECT_EQ(events(explorer, {{"source", "abc"}, {"start", "d"}}).back()["error"], none);
  const auto given = events(explorer, {{"source", "abc"}, {"target", "d"}});
  EXPECT_TRUE(given[1]["nodes"][0]["log_probability"].is_number());
  EXPECT_TRUE(given.back()["score"].is_number());
}

TEST_F(ExplorerTest, ALongBeginningIsWrittenWhole) {
  const std::string start(100, 'b');
  const auto all = events(explorer_, {{"source", "a"}, {"start", start}});
  EXPECT_TRUE(all.back()["text"].get<std::string>().starts_with(start));
}

TEST_F(ExplorerTest, WhatTheModelHasNoPlaceForIsNamed) {
  ModelConfig config = small_transformer_config();
  config.transformer.positions = PositionScheme::kLearned;
  config.transformer.max_length = 12;
  const std::vector<std::filesystem::path> path = {saved("short", small_model(config))};
  Explorer explorer(path);
  const std::string text(20, 'a');
  for (const char* side : {"source", "target", "start"}) {
    Json request = {{"source", "a"}};
    request[side] = text;
    const std::string error = events(explorer, request).back().value("error", "none");
    EXPECT_NE(error.find("20 tokens"), std::string::npos) << side << ": " << error;
  }
}

// A run and a map take turns: the map does not wait for the end of the run.
TEST_F(ExplorerTest, ARunLetsOthersInBetween) {
  const auto first = events(explorer_, {{"source", "abc"}});
  size_t maps = 0;
  explorer_.start_run(R"({"source": "abcdefgh"})", [&](const std::string&) {
    explorer_.map(first[0]["run"], {{"reduction", "mean"}});  // would wait for ever
    return ++maps < 3;
  });
  EXPECT_EQ(maps, 3u);
}

TEST_F(ExplorerTest, MapsAlongTrainingAreOfTheLastSentences) {
  const ModelDirectory directory{paths_[0]};
  const std::vector<Reading> before = {given_reading(model_, "abc", "d")},
                             after = {given_reading(model_, "abcdef", "efg")};
  write_snapshot(directory, 1, model_, before);
  write_snapshot(directory, 2, model_, after);
  write_snapshot(directory, 3, model_, after);
  const Json all = Json::parse(explorer_.snapshots(0));
  EXPECT_EQ(all["steps"], (std::vector<int>{2, 3}));
  EXPECT_EQ(all["sentences"][0]["labels"]["cross"]["columns"].size(), 7u);
}

TEST_F(ExplorerTest, DamagedMapsAreNamed) {
  const ModelDirectory directory{paths_[0]};
  std::filesystem::create_directories(directory.looks());
  const std::string layer = "decoder.0.cross";
  const std::vector<Tensor> damaged = {Tensor::zeros({0, 2, 2}), Tensor::zeros({2, 2}),
                                       Tensor::ids(std::vector<int32_t>(8), {2, 2, 2})};
  for (size_t i = 0; i < damaged.size(); ++i) {
    const Tensor ids = Tensor::ids(std::vector<int32_t>{3}, {1});
    const std::string file = "step-" + std::to_string(i) + ".safetensors";
    const std::vector<NamedTensor> tensors = {
        {"0.source", ids}, {"0.target", ids}, {"0." + layer, damaged[i]}};
    write_safetensors(directory.looks() / file, tensors);
    expect_error<FormatError>(
        [&] {
          explorer_.snapshot_map(0, {{"step", std::to_string(i)}, {"layer", layer}});
        },
        file);
  }
}

TEST_F(ExplorerTest, AModelWithoutAttentionStillWrites) {
  const auto all = events(explorer_, {{"model", 1}, {"source", "abc"}, {"top", 2}});
  EXPECT_EQ(all.back()["event"], "done");
  EXPECT_TRUE(all[1]["row"].empty());
  expect_error<ConfigError>(
      [&] {
        explorer_.map(all[0]["run"], {{"layer", "decoder.attention"}});
      },
      "the model has no attention");
}

TEST_F(ExplorerTest, UnknownTokensSayWhatTheyStandFor) {
  const auto given = events(explorer_, {{"source", "aß"}, {"target", "ab"}});
  EXPECT_EQ(given.front()["tokens"], Json({"a", "<unk:ß>", "</s>"}));
  const Json labels = Json::parse(explorer_.labels(given.front()["run"], {}));
  EXPECT_EQ(labels["columns"], Json({"a", "<unk:ß>", "</s>"}));
  const Json of_path = Json::parse(explorer_.labels(given.front()["run"], {{"path", "1"}}));
  EXPECT_EQ(of_path["columns"], labels["columns"]);
}

TEST_F(ExplorerTest, SaysWhatIsWrong) {
  const auto error = [&](const std::string& request) {
    std::string text;
    explorer_.start_run(request, [&](const std::string& line) {
      text = Json::parse(line)["error"];
      return true;
    });
    return text;
  };
  EXPECT_EQ(error("{"), "run: the request: not JSON at byte 2");
  EXPECT_NE(error("{}").find("source"), std::string::npos);
  EXPECT_NE(error(R"({"source": 3})").find("string"), std::string::npos);
  const std::string text(5000, 'a');
  EXPECT_EQ(error(Json{{"source", text}}.dump()),
            "run: the input has 5000 tokens; the page shows at most 4096");
  EXPECT_EQ(error(Json{{"source", "a"}, {"target", text}}.dump()),
            "run: the output has 5000 tokens; the page shows at most 4096");
  EXPECT_EQ(error(Json{{"source", "a"}, {"start", text}}.dump()),
            "run: the beginning has 5000 tokens; the page shows at most 4096");
  EXPECT_EQ(error(R"({"source": "a", "model": 7})"), "there is no model 7; the explorer has 2");
  EXPECT_EQ(error(R"({"source": "a", "beam": 0})"),
            "run: a beam of 0 and 5 candidates; they go from 1 to 16 and 20");
  EXPECT_EQ(error(R"({"source": "a", "beam": 2, "top": 0})"),
            "run: a beam of 2 and 0 candidates; they go from 1 to 16 and 20");
  EXPECT_EQ(error(R"({"source": "a", "beam": 2, "top": 21})"),
            "run: a beam of 2 and 21 candidates; they go from 1 to 16 and 20");
  EXPECT_EQ(error(R"({"source": "a", "top": -5})"),
            "run: top is -5; it should be a whole number from 0");
  EXPECT_EQ(error(R"({"source": "a", "beam": 1.5})"),
            "run: beam is 1.5; it should be a whole number from 0");
  expect_error<NotFound>([&] { explorer_.run(99); }, "run 99 is no longer kept");
}

TEST_F(ExplorerTest, StopsWhereNobodyListens) {
  size_t told = 0;
  explorer_.start_run(R"({"source": "abcdefgh"})", [&](const std::string&) { return ++told < 2; });
  EXPECT_EQ(told, 2u);
}

TEST_F(ExplorerTest, ReadsALogThatGrows) {
  const std::filesystem::path log = paths_[0] / "log.jsonl";
  std::ofstream(log) << "{\"step\":1}\n{\"step\":2}\n{\"ste";
  const Json first = Json::parse(explorer_.training(0, {}));
  EXPECT_EQ(first["lines"].size(), 2u);
  std::ofstream(log, std::ios::app) << "p\":3}\n";
  const Json rest = Json::parse(explorer_.training(0, {{"from", first["next"].dump()}}));
  ASSERT_EQ(rest["lines"].size(), 1u);
  EXPECT_EQ(rest["lines"][0]["step"], 3);
  EXPECT_TRUE(Json::parse(explorer_.training(1, {}))["lines"].empty());
}

TEST_F(ExplorerTest, SkipsLinesOfALogThatAreNoReports) {
  const std::string open(100'000, '['), close(100'000, ']');
  std::ofstream(paths_[0] / "log.jsonl")
      << "{\"step\":1}\n{\"step\":" << open << close
      << "}\n7\n\n{\"step\":\"\xff\"}\n{\"a\":1,\n{\"step\":1e999}\n"
      << "{\"step\":2}\n";
  EXPECT_EQ(Json::parse(explorer_.training(0, {}))["lines"],
            Json::parse(R"([{"step":1},{"step":2}])"));
}

}  // namespace
}  // namespace attend
