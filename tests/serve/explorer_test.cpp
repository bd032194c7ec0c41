// What the explorer answers.
#include "attend/serve/explorer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "attend/base/storage.h"
#include "attend/inspect/overview.h"
#include "attend/inspect/saliency.h"
#include "attend/inspect/snapshot.h"
#include "attend/serve/idle_memory.h"
#include "tests/damage.h"
#include "tests/errors.h"
#include "tests/serve/explorers.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Parameters = Explorer::Parameters;

const SequencePair kCross{"target", "source"};

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
  EXPECT_EQ(models[0]["layers"][3]["queries"], "target");
  EXPECT_EQ(models[0]["layers"][3]["keys"], "source");
  EXPECT_EQ(models[0]["layers"][3]["heads"], 2);
  EXPECT_EQ(models[0]["writes"], true);
  EXPECT_EQ(models[0]["lens"], true);
  EXPECT_EQ(models[1]["lens"], false);
  EXPECT_EQ(models[0]["sequences"], Json::parse(R"([
      {"name": "source", "kind": "tokens", "tokenizer": "character", "written": false},
      {"name": "target", "kind": "tokens", "tokenizer": "character", "written": true}])"));
  EXPECT_TRUE(models[1]["layers"].empty());
}

TEST_F(ExplorerTest, TellsItsGuide) {
  EXPECT_TRUE(Json::parse(explorer_.models())["guide"].is_null());
  const Explorer guided(paths_, ExplorerGuide{.title = "Lesson",
                                              .text = "Look.",
                                              .inputs = {"ab", "cd"},
                                              .names = {"first"},
                                              .state = {{"view", "beam"}}});
  const Json answer = Json::parse(guided.models());
  EXPECT_EQ(answer["guide"], Json::parse(R"({"title": "Lesson", "text": "Look.",
      "inputs": ["ab", "cd"], "state": {"view": "beam"}})"));
  EXPECT_EQ(answer["models"][0]["name"], "first");
  EXPECT_EQ(answer["models"][1]["name"], paths_[1].string());
}

TEST_F(ExplorerTest, TellsHowATextIsWritten) {
  const auto all = events(explorer_, run_of("abcd", {{"beam", 2}, {"top", 4}}));
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(all.front()["event"], "start");
  EXPECT_EQ(all.front()["sequences"], Json::parse(R"([
      {"name": "source", "items": ["a", "b", "c", "d", "</s>"]},
      {"name": "target", "items": ["<s>"]}])"));
  EXPECT_EQ(all.front()["watched"], Json::parse(R"({"queries": "target", "keys": "source"})"));
  const Json& done = all.back();
  ASSERT_EQ(done["event"], "done");
  EXPECT_EQ(done["hypotheses"].size(), 2u);
  const Trace best = written_trace(model_, "abcd", {.beam = 2});
  EXPECT_EQ(done["text"], model_.tokenizer("target").decode(best.output()));
  for (size_t i = 1; i + 1 < all.size(); ++i) {
    ASSERT_EQ(all[i]["event"], "step");
    EXPECT_GE(all[i]["nodes"].size(), 4u);
    float sum = 0;
    for (const float w : all[i]["row"]) sum += w;
    EXPECT_NEAR(sum, 1.0f, 1e-5f);
  }
}

TEST_F(ExplorerTest, ForcesAGivenText) {
  const auto all = events(explorer_, run_of("abcd", {{"output", "ef"}, {"top", 3}}));
  ASSERT_EQ(all.size(), 5u);  // start, two tokens, the end, done
  EXPECT_EQ(all[1]["nodes"][0]["token"], "e");
  EXPECT_EQ(all[1]["nodes"][0]["kept"], true);
  EXPECT_EQ(all[2]["nodes"][0]["parent"], all[1]["nodes"][0]["id"]);
  EXPECT_EQ(all[4]["text"], "ef");
  const Tensor mean = mean_map(model_, given_trace(model_, "abcd", "ef"), kCross);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(all[2]["row"][i].get<float>(), mean.data()[mean.stride() + i], 1e-6f);
  }
  EXPECT_EQ(all[4]["path"].size(), 3u);
}

// Whatever the request, it ends with an event: done, or an error that says something.
TEST_F(ExplorerTest, DamagedRequestsEndWell) {
  const Json whole = run_of("ab", {{"model", 0}, {"output", "e"}, {"beam", 2}, {"top", 3}});
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
  const size_t run = events(explorer_, run_of("abcd", {{"output", "ef"}}))[0]["run"];
  const MapOf map(explorer_.map(run, {{"layer", "decoder.1.cross"}, {"head", "1"}}));
  ASSERT_EQ(map.rows, 3u);
  ASSERT_EQ(map.columns, 5u);
  const Tensor direct = attention_map(model_, given_trace(model_, "abcd", "ef"), "decoder.1.cross",
                                      HeadChoice::parse("1"));
  EXPECT_EQ(map.values, direct.to_vector());
  EXPECT_EQ(MapOf(explorer_.map(run, {{"reduction", "rollout"}, {"queries", "source"}})).rows, 5u);
  EXPECT_EQ(MapOf(explorer_.map(run, {{"reduction", "flow"}})).rows, 3u);
  const MapOf mean(explorer_.map(run, {{"reduction", "mean"}, {"keys", "target"}}));
  EXPECT_NEAR(mean.values[3] + mean.values[4] + mean.values[5], 1.0f, 1e-5f);  // a row
  const std::string small = explorer_.thumbnails(run, {{"queries", "target"}, {"size", "2"}});
  ASSERT_EQ(small.size(), 16u + 2 * 2 * (4 + 2 * 2));
  const Trace trace = given_trace(model_, "abcd", "ef");
  const auto entropy = entropies(model_, trace, layers_between(trace.layers, kCross));
  EXPECT_EQ(std::memcmp(small.data() + 16, entropy[0].data(), 8), 0);
  EXPECT_EQ(std::memcmp(small.data() + 24, entropy[1].data(), 8), 0);
  EXPECT_EQ(Json::parse(explorer_.sequences(run, {}))["sequences"][1], Json::parse(R"(
      {"name": "target", "items": ["<s>", "e", "f"], "next": ["e", "f", "</s>"]})"));
  expect_error<ConfigError>(
      [&] {
        explorer_.map(run, {{"reduction", "mean"}, {"queries", "source"}, {"keys", "target"}});
      },
      "no attention layer goes from 'source' to 'target'; there are: target -> source");
  expect_error<ConfigError>(
      [&] {
        explorer_.thumbnails(run, {{"keys", "text"}});
      },
      "no attention layer goes from any sequence to 'text'");
}

TEST_F(ExplorerTest, GivesRowsOfSaliencyAsTheyAreKnown) {
  const std::string source(500, 'a');
  const size_t run = events(explorer_, run_of(source, {{"output", "efgh"}}))[0]["run"];
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
  const Tensor direct = saliency(model_, given_trace(model_, source, "efgh"))[0];
  ASSERT_EQ(map.values.size(), direct.size());
  for (size_t i = 0; i < direct.size(); ++i) {
    EXPECT_NEAR(map.values[i], direct.span()[i], 1e-5f);
  }
}

TEST_F(ExplorerTest, GivesSaliencyOfWhatWasWrittenBefore) {
  const size_t run = events(explorer_, run_of("abcd", {{"output", "ef"}}))[0]["run"];
  std::string all;
  explorer_.saliency(run, {{"keys", "target"}})([&](const std::string& bytes) {
    all += bytes;
    return true;
  });
  const MapOf map(all);
  EXPECT_EQ(map.rows, 3u);
  EXPECT_EQ(map.columns, 3u);
  const Tensor direct = saliency(model_, given_trace(model_, "abcd", "ef"))[1];
  for (size_t i = 0; i < direct.size(); ++i) {
    EXPECT_NEAR(map.values[i], direct.span()[i], 1e-5f);
  }
}

TEST_F(ExplorerTest, StopsWhenNobodyWaitsForSaliency) {
  const size_t run =
      events(explorer_, run_of(std::string(500, 'a'), {{"output", "efgh"}}))[0]["run"];
  size_t asked = 0;
  explorer_.saliency(run, {{"method", "integrated"}})([&](const std::string& bytes) {
    EXPECT_TRUE(bytes.empty());  // no row is whole yet
    return ++asked < 3;
  });
  EXPECT_EQ(asked, 3u);
  expect_error<ConfigError>([&] { explorer_.saliency(run, {{"method", "lime"}}); }, "gradient");
  expect_error<ConfigError>(
      [&] {
        explorer_.saliency(run, {{"keys", "text"}});
      },
      "there is no sequence 'text'; the model has: source, target");
  expect_error<NotFound>([&] { explorer_.saliency(99, {}); }, "run 99");
}

// What one request needed is not kept for ever.
TEST_F(ExplorerTest, GivesIdleMemoryBack) {
  const auto idle = [] {
    const PoolStatistics pool = pool_statistics();
    return pool.bytes_from_system - pool.bytes_in_use;
  };
  const auto leave_much_idle = [] { const Storage large(4 * IdleMemory::kKept); };
  leave_much_idle();
  ASSERT_GT(idle(), IdleMemory::kKept);
  const size_t run = events(explorer_, run_of("abcd", {{"output", "ef"}}))[0]["run"];
  EXPECT_LE(idle(), IdleMemory::kKept);
  EXPECT_EQ(kernels::scratch_bytes(), 0u);
  explorer_.map(run, {{"reduction", "mean"}});
  EXPECT_EQ(kernels::scratch_bytes(), 0u);
  leave_much_idle();
  explorer_.saliency(run, {})([](const std::string&) { return false; });
  EXPECT_LE(idle(), IdleMemory::kKept);
  EXPECT_EQ(kernels::scratch_bytes(), 0u);
}

TEST_F(ExplorerTest, ShowsOtherLeavesOfTheTree) {
  const auto all = events(explorer_, run_of("abcd", {{"beam", 2}}));
  const Json second = all.back()["hypotheses"][1];
  std::string path;
  for (const size_t node : second["path"]) path += (path.empty() ? "" : ",") + std::to_string(node);
  const size_t run = all[0]["run"];
  const Json next = Json::parse(explorer_.sequences(run, {{"path", path}}))["sequences"][1]["next"];
  EXPECT_EQ(MapOf(explorer_.map(run, {{"layer", "decoder.0.cross"}, {"path", path}})).rows,
            next.size());
  std::string text;
  for (const std::string piece : next) text += piece == "</s>" ? "" : piece;
  std::string expected = second["text"];
  for (size_t at = 0; (at = expected.find(' ')) != std::string::npos;) expected.replace(at, 1, "▁");
  EXPECT_EQ(text, expected);
}

TEST_F(ExplorerTest, ShowsWhatAGivenTextCouldHaveBeen) {
  const auto all = events(explorer_, run_of("abcd", {{"output", "ef"}, {"top", 3}}));
  const Json pruned = all[2]["nodes"][1];
  ASSERT_EQ(pruned["kept"], false);
  const Parameters path = {{"path", pruned["id"].dump()}, {"layer", "decoder.0.cross"}};
  const Json target = Json::parse(explorer_.sequences(all[0]["run"], path))["sequences"][1];
  EXPECT_EQ(target["next"], Json({"e", pruned["token"], "</s>"}));
  EXPECT_EQ(target["items"], Json({"<s>", "e", pruned["token"]}));
  EXPECT_EQ(MapOf(explorer_.map(all[0]["run"], path)).rows, 3u);
  expect_error<NotFound>([&] { explorer_.map(all[0]["run"], {{"path", "999"}}); }, "no node 999");
}

TEST_F(ExplorerTest, ARunIsThereWhenItsEndIsTold) {
  explorer_.start_run(R"({"texts": {"source": "abc"}})", [&](const std::string& line) {
    const Json event = Json::parse(line);
    if (event["event"] != "done") return true;
    EXPECT_EQ(Json::parse(explorer_.run(1))["text"], event["text"]);
    return true;
  });
}

TEST_F(ExplorerTest, LabelModelsShowTheirText) {
  const std::vector<std::filesystem::path> path = {
      saved("label", small_label_model(LabelPooling::kFirst))};
  Explorer explorer(path);
  const Json model = Json::parse(explorer.models())["models"][0];
  EXPECT_EQ(model["writes"], false);
  EXPECT_EQ(model["sequences"][1], Json::parse(R"(
      {"name": "label", "kind": "label", "tokenizer": "character", "written": true})"));
  const auto all = events(explorer, {{"texts", {{"text", "abc"}}}});
  ASSERT_EQ(all.back()["event"], "done");
  const size_t run = all[0]["run"];
  const Json text = Json::parse(explorer.sequences(run, {}))["sequences"][0];
  EXPECT_EQ(text["items"], Json({"<s>", "a", "b", "c", "</s>"}));
  EXPECT_EQ(MapOf(explorer.map(run, {{"layer", "encoder.0.self"}})).rows, 5u);
  EXPECT_EQ(MapOf(explorer.map(run, {{"reduction", "rollout"}})).rows, 5u);
  expect_error<ConfigError>(
      [&] {
        explorer.map(run, {{"reduction", "rollout"}, {"queries", "label"}, {"keys", "text"}});
      },
      "no attention layer goes from 'label' to 'text'; there are: text -> text");
  std::string bytes;
  explorer.saliency(run, {})([&](const std::string& more) {
    bytes += more;
    return true;
  });
  EXPECT_EQ(MapOf(bytes).rows, 1u);
  EXPECT_EQ(MapOf(bytes).columns, 5u);
}

TEST_F(ExplorerTest, WeightsThatAreNoNumbersAreAnError) {
  for (const NamedTensor& p : parameters(*model_.model)) {
    std::ranges::fill(p.tensor.span(), std::numeric_limits<float>::quiet_NaN());
  }
  const std::vector<std::filesystem::path> path = {saved("broken", model_)};
  Explorer explorer(path);
  const std::string none = "search: the model gives no numbers; its weights are not finite";
  EXPECT_EQ(events(explorer, run_of("abc")).back()["error"], none);
  EXPECT_EQ(events(explorer, run_of("abc", {{"start", "d"}})).back()["error"], none);
  const auto given = events(explorer, run_of("abc", {{"output", "d"}}));
  EXPECT_TRUE(given[1]["nodes"][0]["log_probability"].is_number());
  EXPECT_TRUE(given.back()["score"].is_number());
}

TEST_F(ExplorerTest, ALongBeginningIsWrittenWhole) {
  const std::string start(100, 'b');
  const auto all = events(explorer_, run_of("a", {{"start", start}}));
  EXPECT_TRUE(all.back()["text"].get<std::string>().starts_with(start));
}

TEST_F(ExplorerTest, WhatTheModelHasNoPlaceForIsNamed) {
  ModelConfig config = small_transformer_config();
  transformer_of(config).positions = PositionScheme::kLearned;
  transformer_of(config).max_length = 12;
  const std::vector<std::filesystem::path> path = {saved("short", small_model(config))};
  Explorer explorer(path);
  const std::string text(20, 'a');
  for (const Json& request :
       {run_of(text), run_of("a", {{"output", text}}), run_of("a", {{"start", text}})}) {
    const std::string error = events(explorer, request).back().value("error", "none");
    EXPECT_NE(error.find("20 tokens, but the model has positions for 11"), std::string::npos)
        << request << ": " << error;
  }
}

// A run and a map take turns: the map does not wait for the end of the run.
TEST_F(ExplorerTest, ARunLetsOthersInBetween) {
  const auto first = events(explorer_, run_of("abc"));
  size_t maps = 0;
  explorer_.start_run(R"({"texts": {"source": "abcdefgh"}})", [&](const std::string&) {
    explorer_.map(first[0]["run"], {{"reduction", "mean"}});  // would wait for ever
    return ++maps < 3;
  });
  EXPECT_EQ(maps, 3u);
}

TEST_F(ExplorerTest, MapsAlongTrainingAreOfTheLastSentences) {
  const ModelDirectory directory{paths_[0]};
  const std::vector<Trace> before = {given_trace(model_, "abc", "d")},
                           after = {given_trace(model_, "abcdef", "efg")};
  write_snapshot(directory, 1, model_, before);
  write_snapshot(directory, 2, model_, after);
  write_snapshot(directory, 3, model_, after);
  const Json all = Json::parse(explorer_.snapshots(0));
  EXPECT_EQ(all["steps"], (std::vector<int>{2, 3}));
  EXPECT_EQ(all["sentences"][0]["text"], "abcdef");
  EXPECT_EQ(all["sentences"][0]["sequences"][0]["items"].size(), 7u);
  EXPECT_EQ(all["sentences"][0]["sequences"][1]["next"], Json({"e", "f", "g", "</s>"}));
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
        {"0.ids.source", ids}, {"0.ids.target", ids}, {"0." + layer, damaged[i]}};
    write_safetensors(directory.looks() / file, tensors);
    expect_error<FormatError>(
        [&] {
          explorer_.snapshot_map(0, {{"step", std::to_string(i)}, {"layer", layer}});
        },
        file);
  }
}

TEST_F(ExplorerTest, AModelWithoutAttentionStillWrites) {
  const auto all = events(explorer_, run_of("abc", {{"model", 1}, {"top", 2}}));
  EXPECT_EQ(all.back()["event"], "done");
  EXPECT_TRUE(all[1]["row"].empty());
  expect_error<ConfigError>(
      [&] {
        explorer_.map(all[0]["run"], {{"layer", "decoder.attention"}});
      },
      "the model has no attention");
}

TEST_F(ExplorerTest, UnknownTokensSayWhatTheyStandFor) {
  const auto given = events(explorer_, run_of("aß", {{"output", "ab"}}));
  const Json read = {{"name", "source"}, {"items", {"a", "<unk:ß>", "</s>"}}};
  EXPECT_EQ(given.front()["sequences"][0], read);
  const size_t run = given.front()["run"];
  EXPECT_EQ(Json::parse(explorer_.sequences(run, {}))["sequences"][0], read);
  EXPECT_EQ(Json::parse(explorer_.sequences(run, {{"path", "1"}}))["sequences"][0], read);
  EXPECT_EQ(Json::parse(explorer_.run(run))["sequences"][0], read);
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
  EXPECT_NE(error(R"({"texts": {"source": 3}})").find("string"), std::string::npos);
  const std::string text(5000, 'a');
  EXPECT_EQ(error(run_of(text).dump()),
            "run: 'source' has 5000 tokens; at most 4096 can be shown, so use a part of the text");
  EXPECT_EQ(error(run_of("a", {{"output", text}}).dump()),
            "run: 'target' has 5000 tokens; at most 4096 can be shown, so use a part of the text");
  EXPECT_EQ(error(run_of("a", {{"start", text}}).dump()),
            "run: 'target' has 5000 tokens; at most 4096 can be shown, so use a part of the text");
  EXPECT_EQ(error(R"({"texts": {"source": "a"}, "model": 7})"),
            "there is no model 7; the explorer has 2");
  EXPECT_EQ(error(R"({"texts": {"source": "a"}, "beam": 0})"),
            "run: a beam of 0 and 5 candidates; the page takes 1 to 16 and 1 to 20");
  EXPECT_EQ(error(R"({"texts": {"source": "a"}, "beam": 2, "top": 0})"),
            "run: a beam of 2 and 0 candidates; the page takes 1 to 16 and 1 to 20");
  EXPECT_EQ(error(R"({"texts": {"source": "a"}, "beam": 2, "top": 21})"),
            "run: a beam of 2 and 21 candidates; the page takes 1 to 16 and 1 to 20");
  EXPECT_EQ(error(R"({"texts": {"source": "a"}, "top": -5})"),
            "run: top is -5; use a whole number from 0");
  EXPECT_EQ(error(R"({"texts": {"source": "a"}, "beam": 1.5})"),
            "run: beam is 1.5; use a whole number from 0");
  expect_error<NotFound>([&] { explorer_.run(99); }, "run 99 is no longer kept");
}

TEST_F(ExplorerTest, StopsWhereNobodyListens) {
  size_t told = 0;
  explorer_.start_run(R"({"texts": {"source": "abcdefgh"}})",
                      [&](const std::string&) { return ++told < 2; });
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
