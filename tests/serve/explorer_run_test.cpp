// What a run is asked for, and the events it tells.
#include "attend/serve/explorer_run.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/errors.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The texts of a request, as a field of it.
std::pair<const std::string, OrderedJson> source_text(const std::string& text) {
  return {"texts", {{"source", text}}};
}

std::vector<OrderedJson> events(const TextModel& model, const OrderedJson& request) {
  std::vector<OrderedJson> all;
  const auto run =
      run_request(model, RunRequest::parse(request.dump()), [&](const OrderedJson& event) {
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
    const Tokenizer& tokenizer = model.tokenizer("target");
    for (int32_t id = tokenizer.first_piece(); static_cast<size_t>(id) < tokenizer.size();
         id += 5) {
      const std::vector<int32_t> start = {tokenizer.encode(" ").front(), id};
      const auto all = events(model, {source_text("abc"), {"start_ids", start}, {"beam", 1}});
      EXPECT_EQ(all[1]["nodes"][0]["token_id"], start[0]);
      EXPECT_EQ(all[2]["nodes"][0]["token_id"], start[1]);
      EXPECT_EQ(all.back()["tokens"][0], "▁");
      EXPECT_EQ(all.back()["tokens"][1], tokenizer.piece(id));
    }
  }
}

// Source and target as one sequence: each token looks at all of the source and at those before it,
// whether it is searched for, sampled or given.
TEST(ExplorerRun, WatchesTheTargetBehindItsSource) {
  for (const bool bidirectional : {false, true}) {
    const TextModel model = small_decoder_only_model(bidirectional);
    for (const OrderedJson& how :
         {OrderedJson{{"beam", 2}, {"start", "hi"}},
          OrderedJson{{"temperature", 1.0}, {"start", "hi"}}, OrderedJson{{"output", "hij"}}}) {
      OrderedJson request = {source_text("abc"), {"most", 4}};
      request.update(how);
      const auto all = events(model, request);
      ASSERT_EQ(all.front()["watched"], (OrderedJson{{"queries", "text"}, {"keys", "text"}}));
      const OrderedJson& sequences = all.front()["sequences"];
      ASSERT_EQ(sequences.size(), 3u);
      EXPECT_EQ(sequences[1]["items"], OrderedJson::array({"<s>"}));
      EXPECT_EQ(sequences[2]["items"], OrderedJson::array({"<s>", "a", "b", "c", "<s>"}));
      size_t keys = 5;
      for (const OrderedJson& event : all) {
        if (event["event"] != "step") continue;
        const std::vector<float> row = event["row"];
        ASSERT_EQ(row.size(), keys++);
        EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0f), 1.0f, 1e-4f);
      }
      EXPECT_GT(keys, 6u);
    }
  }
}

TEST(ExplorerRun, NodesHaveTheIdsOfTheirTokens) {
  const TextModel model = small_transformer_model();
  const auto all = events(model, {source_text("abc"), {"beam", 2}});
  EXPECT_EQ(all.front()["tokenizer"], "character");
  std::map<size_t, OrderedJson> nodes;
  for (const OrderedJson& event : all) {
    if (event["event"] != "step") continue;
    for (const OrderedJson& node : event["nodes"]) nodes[node["id"]] = node;
  }
  std::vector<int32_t> written;
  for (const size_t id : all.back()["path"]) {
    written.push_back(nodes.at(id)["token_id"]);
    EXPECT_EQ(nodes.at(id)["token"], model.tokenizer("target").piece(written.back()));
  }
  EXPECT_EQ(all.back()["text"], model.tokenizer("target").decode(written));
}

TEST(ExplorerRun, SaysWhatIsWrongWithABeginning) {
  const TextModel model = small_transformer_model();
  const auto refused = [&](const OrderedJson& ids, const std::string& words) {
    expect_error<Error>([&] { events(model, {source_text("a"), {"start_ids", ids}}); }, words);
  };
  refused("ab", "run: start_ids is \"ab\"; use an array of ids");
  refused({1.5}, "run: start_ids has 1.5; ids are whole numbers from 0");
  refused({-1}, "run: start_ids has -1; ids are whole numbers from 0");
  refused({nullptr}, "run: start_ids has null; ids are whole numbers from 0");
  refused({4, OrderedJson::array()}, "run: start_ids has an array; ids are whole numbers from 0");
  refused({4, 5'000'000'000}, "run: start_ids has 5000000000; ");
  refused({4, model.tokenizer("target").size()},
          "; the vocabulary has " + std::to_string(model.tokenizer("target").size()));
  refused(std::vector<int>(5000, 4), "run: 'target' has 5000 tokens; at most 4096 can be shown");
  events(model, {source_text("a"), {"start", ""}, {"start_ids", {4}}});
  events(model, {source_text("a"), {"start", "b"}, {"start_ids", nullptr}});
}

std::string text_of(const std::vector<OrderedJson>& all) { return all.back()["text"]; }

TEST(ExplorerRun, TokensAndATextAfterThemBeginTheOutput) {
  const TextModel model = small_language_model();
  const Tokenizer& tokenizer = model.tokenizer("text");
  const auto all = events(
      model, {{"start_ids", tokenizer.encode("ab")}, {"start", "cd"}, {"most", 0}, {"beam", 1}});
  EXPECT_EQ(text_of(all), "abcd");
}

TEST(ExplorerRun, WritesAsManyTokensAsAreAskedFor) {
  const TextModel model = small_language_model();
  for (const float temperature : {0.0f, 1.0f}) {
    for (const size_t most : {0, 1, 5}) {
      const auto all = events(
          model, {{"start", "abc"}, {"most", most}, {"beam", 1}, {"temperature", temperature}});
      const size_t tokens = all.back()["path"].size();
      EXPECT_GE(tokens, 3u);
      EXPECT_LE(tokens, 3 + most);
      EXPECT_TRUE(text_of(all).starts_with("abc"));
    }
  }
}

TEST(ExplorerRun, ASampleFollowsFromItsSeed) {
  const TextModel model = small_language_model();
  const auto sample = [&](size_t seed) {
    return events(model,
                  {{"start", "a"}, {"most", 20}, {"temperature", 1.5}, {"seed", seed}, {"top", 3}});
  };
  EXPECT_EQ(text_of(sample(1)), text_of(sample(1)));
  EXPECT_NE(text_of(sample(1)), text_of(sample(2)));
  for (const OrderedJson& event : sample(3)) {
    if (event["event"] != "step") continue;
    EXPECT_GE(event["nodes"].size(), 3u);
    EXPECT_EQ(event["best"], event["nodes"][0]["id"]);
    float sum = 0;
    for (const float weight : event["row"]) sum += weight;
    EXPECT_NEAR(sum, 1.0f, 1e-5f);
  }
  for (const OrderedJson& wrong :
       {OrderedJson(-1), OrderedJson(11), OrderedJson("hot"), OrderedJson()}) {
    expect_error<ConfigError>(
        [&] {
          events(model, {{"start", "a"}, {"temperature", wrong}});
        },
        "run: temperature is ");
  }
  expect_error<ConfigError>(
      [&] {
        events(model, {{"start", "a"}, {"most", -1}});
      },
      "run: most is -1; use a whole number from 0");
}

// Whatever walks over a request by calling itself would leave the stack; and a tree takes many
// times the memory of its text.
TEST(ExplorerRun, LargeTreesAreRefused) {
  const auto parse = [](const std::string& name, const std::string& value) {
    RunRequest::parse(R"({"texts": {"source": "a"}, ")" + name + "\": " + value + "}");
  };
  const auto repeated = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  for (const std::string name : {"beam", "output", "start_ids", "unknown"}) {
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
    RunRequest::parse(R"({"texts": {"source": "a"}, ")" + name + "\": " + value + "}");
  };
  for (const std::string name : {"beam", "top", "model"}) {
    const auto refused = [&](const std::string& value, const std::string& shown) {
      expect_error<ConfigError>([&] { parse(name, value); },
                                fmt::format("run: {} is {}; use a whole number", name, shown));
    };
    refused("[1]", "an array");
    refused("{}", "an object");
    refused("\"4\"", "\"4\"");
    refused("-1", "-1");
    refused("4.0", "4.0");
    refused("1e300", "1e+300");
    refused("99999999999999999999", "1e+20");
  }
  expect_error<ConfigError>([&] { parse("beam", "1000000000000000000"); },
                            "the page takes 1 to 16");
  expect_error<DataError>([&] { parse("beam", "1e999"); }, "not JSON");
  for (const std::string name : {"start", "output"}) {
    expect_error<DataError>([&] { parse(name, "[1]"); }, "run: start and output are strings");
  }
  const auto refused = [](const std::string& texts, const std::string& words) {
    expect_error<ConfigError>([&] { RunRequest::parse(R"({"texts": )" + texts + "}"); }, words);
  };
  refused("[1]", "run: texts is an array; use an object");
  refused("\"a\"", "run: texts is \"a\"; use an object");
  refused(R"({"source": 3})", "run: the text of 'source' is 3; use a string");
  refused(R"({"source": null})", "run: the text of 'source' is null; use a string");
}

TEST(ExplorerRun, TextsAreForWhatTheModelReads) {
  const TextModel model = small_transformer_model();
  const auto refused = [&](const OrderedJson& texts, const std::string& words) {
    expect_error<Error>([&] { events(model, {{"texts", texts}}); }, words);
  };
  refused(OrderedJson::object(), "there is no text for 'source'; the model reads: source");
  refused({{"source", "a"}, {"text", "b"}}, "the model has no text; it reads and writes: source");
  refused({{"source", "a"}, {"target", "b"}}, "run: 'target' is written, not read");
}

// It reads what it has written, from the beginning that is given.
TEST(ExplorerRun, ALanguageModelContinuesItsText) {
  const TextModel model = small_language_model();
  const auto all = events(model, {{"start", "abc"}, {"beam", 2}});
  EXPECT_EQ(all.front()["sequences"],
            OrderedJson::parse(R"([{"name": "text", "items": ["<s>"]}])"));
  EXPECT_EQ(all.front()["watched"], OrderedJson::parse(R"({"queries": "text", "keys": "text"})"));
  EXPECT_TRUE(all.back()["text"].get<std::string>().starts_with("abc"));
  for (size_t t = 0; t + 2 < all.size(); ++t) {
    const OrderedJson& row = all[t + 1]["row"];
    ASSERT_EQ(row.size(), t + 1);
    float sum = 0;
    for (const float weight : row) sum += weight;
    EXPECT_NEAR(sum, 1.0f, 1e-5f);
  }
  const auto given = events(model, {{"output", "ab"}});
  ASSERT_EQ(given.size(), 5u);  // start, two tokens, the end, done
  EXPECT_EQ(given[2]["row"].size(), 2u);
  EXPECT_EQ(given.back()["tokens"], OrderedJson({"a", "b", "</s>"}));
}

TEST(ExplorerRun, AClassifierGivesItsLikeliestLabels) {
  const TextModel model = small_label_model(LabelPooling::kAttention);
  const auto all = events(model, {{"texts", {{"text", "abc"}}}, {"beam", 2}, {"top", 4}});
  ASSERT_EQ(all.size(), 3u);  // start, the label, done
  EXPECT_EQ(all[0]["watched"], OrderedJson::parse(R"({"queries": "label", "keys": "text"})"));
  EXPECT_EQ(all[1]["row"].size(), 4u);
  const OrderedJson& nodes = all[1]["nodes"];
  ASSERT_EQ(nodes.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(nodes[i]["kept"], i < 2);
    EXPECT_EQ(nodes[i]["ended"], i < 2);
    EXPECT_EQ(nodes[i]["ends"], false);
    EXPECT_EQ(nodes[i]["parent"], 0);
  }
  EXPECT_GE(nodes[0]["log_probability"], nodes[1]["log_probability"]);
  EXPECT_EQ(all[2]["hypotheses"].size(), 2u);
  EXPECT_EQ(all[2]["text"], nodes[0]["token"]);
  EXPECT_EQ(all[2]["tokens"], OrderedJson::array({nodes[0]["token"]}));
  const OrderedJson other = nodes[3]["token_id"];
  const auto chosen =
      events(model, {{"texts", {{"text", "abc"}}}, {"start_ids", OrderedJson::array({other})}});
  EXPECT_EQ(chosen[2]["text"], nodes[3]["token"]);
  EXPECT_EQ(chosen[1]["nodes"][0]["token_id"], other);
  EXPECT_EQ(chosen[1]["nodes"][0]["log_probability"], nodes[3]["log_probability"]);
  const auto given = events(model, {{"texts", {{"text", "abc"}}}, {"output", "b"}});
  EXPECT_EQ(given[2]["text"], "b");
  EXPECT_EQ(given[2]["hypotheses"].size(), 1u);
  expect_error<DataError>(
      [&] {
        events(model, {{"texts", {{"text", "abc"}}}, {"start_ids", {1}}});
      },
      "the model has no label 1");
}

}  // namespace
}  // namespace attend
