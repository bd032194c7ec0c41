// What a run is asked for, and the events it tells.
#include "attend/serve/explorer_run.h"

#include <gtest/gtest.h>

#include "tests/errors.h"
#include "tests/inspect/readings.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> events(const TextModel& model, const Json& request) {
  std::vector<Json> all;
  const auto run = written_run(model, RunRequest::parse(request.dump()), [&](const Json& event) {
    all.push_back(event);
    return true;
  });
  if (run) all.push_back(run->done);
  return all;
}

// Text of a token alone, such as a space or a byte, is not always the token again.
TEST(ExplorerRun, BeginsWithTheTokensThatAreGiven) {
  for (const TokenizerKind kind : {TokenizerKind::kCharacter, TokenizerKind::kByte}) {
    const TextModel model = small_text_model(kind, letters());
    for (int32_t id = kSpecialTokens; static_cast<size_t>(id) < model.target->size(); id += 5) {
      const std::vector<int32_t> start = {model.target->encode(" ").front(), id};
      const auto all = events(model, {{"source", "abc"}, {"start_ids", start}, {"beam", 1}});
      EXPECT_EQ(all[1]["nodes"][0]["token_id"], start[0]);
      EXPECT_EQ(all[2]["nodes"][0]["token_id"], start[1]);
      EXPECT_EQ(all.back()["tokens"][0], "▁");
      EXPECT_EQ(all.back()["tokens"][1], model.target->piece(id));
    }
  }
}

TEST(ExplorerRun, NodesHaveTheIdsOfTheirTokens) {
  const TextModel model = small_transformer_model();
  const auto all = events(model, {{"source", "abc"}, {"beam", 2}});
  EXPECT_EQ(all.front()["tokenizer"], "character");
  std::map<size_t, Json> nodes;
  for (const Json& event : all) {
    if (event["event"] != "step") continue;
    for (const Json& node : event["nodes"]) nodes[node["id"]] = node;
  }
  std::vector<int32_t> written;
  for (const size_t id : all.back()["path"]) {
    written.push_back(nodes.at(id)["token_id"]);
    EXPECT_EQ(nodes.at(id)["token"], model.target->piece(written.back()));
  }
  EXPECT_EQ(all.back()["text"], model.target->decode(written));
}

TEST(ExplorerRun, SaysWhatIsWrongWithABeginning) {
  const TextModel model = small_transformer_model();
  const auto refused = [&](const Json& ids, const std::string& words) {
    expect_error<Error>([&] { events(model, {{"source", "a"}, {"start_ids", ids}}); }, words);
  };
  refused("ab", "run: start_ids is \"ab\"; it should be an array of ids");
  refused({1.5}, "run: start_ids has 1.5; ids are whole numbers from 0");
  refused({-1}, "run: start_ids has -1; ids are whole numbers from 0");
  refused({nullptr}, "run: start_ids has null; ids are whole numbers from 0");
  refused({4, Json::array()}, "run: start_ids has an array; ids are whole numbers from 0");
  refused({4, 5'000'000'000}, "run: start_ids has 5000000000; ");
  refused({4, model.target->size()},
          "; the vocabulary has " + std::to_string(model.target->size()));
  refused(std::vector<int>(5000, 4),
          "run: the beginning has 5000 tokens; the page shows at most 4096");
  expect_error<ConfigError>(
      [&] {
        events(model, {{"source", "a"}, {"start", "b"}, {"start_ids", {4}}});
      },
      "run: a beginning is given as start or as start_ids, not both");
  events(model, {{"source", "a"}, {"start", ""}, {"start_ids", {4}}});
  events(model, {{"source", "a"}, {"start", "b"}, {"start_ids", nullptr}});
}

// Whatever walks over a request by calling itself would leave the stack; and a tree takes many
// times the memory of its text.
TEST(ExplorerRun, LargeTreesAreRefused) {
  const auto parse = [](const std::string& name, const std::string& value) {
    RunRequest::parse(R"({"source": "a", ")" + name + "\": " + value + "}");
  };
  const auto repeated = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  for (const std::string name : {"beam", "source", "start_ids", "unknown"}) {
    for (const int depth : {20, 100'000}) {
      for (const std::string& value :
           {repeated("[", depth) + "1" + repeated("]", depth), repeated("[", depth),
            repeated("{\"a\":", depth) + "1" + repeated("}", depth)}) {
        expect_error<DataError>([&] { parse(name, value); },
                                "JSON nested too deeply; at most 16 levels");
      }
    }
    expect_error<DataError>([&] { parse(name, "[" + repeated("[],", 300'000) + "1]"); },
                            "too many values; at most 20000");
  }
  expect_error<DataError>([&] { RunRequest::parse(repeated("[", 1'000'000)); }, "16 levels");
  parse("unknown", repeated("[", 10) + repeated("]", 10));
}

TEST(ExplorerRun, SaysWhatAValueShouldBe) {
  const auto parse = [](const std::string& name, const std::string& value) {
    RunRequest::parse(R"({"source": "a", ")" + name + "\": " + value + "}");
  };
  for (const std::string name : {"beam", "top", "model"}) {
    const auto refused = [&](const std::string& value, const std::string& shown) {
      expect_error<ConfigError>(
          [&] { parse(name, value); },
          fmt::format("run: {} is {}; it should be a whole number", name, shown));
    };
    refused("[1]", "an array");
    refused("{}", "an object");
    refused("\"4\"", "\"4\"");
    refused("-1", "-1");
    refused("4.0", "4.0");
    refused("1e300", "1e+300");
    refused("99999999999999999999", "1e+20");
  }
  expect_error<ConfigError>([&] { parse("beam", "1000000000000000000"); }, "from 1 to 16");
  expect_error<DataError>([&] { parse("beam", "1e999"); }, "not JSON");
  for (const std::string name : {"source", "start", "target"}) {
    expect_error<DataError>([&] { parse(name, "[1]"); }, "which is a string");
  }
}

}  // namespace
}  // namespace attend
