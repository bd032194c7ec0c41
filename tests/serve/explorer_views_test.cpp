// What the explorer answers about a run: the lens, cells, and runs with heads knocked out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "attend/inspect/cell.h"
#include "attend/inspect/lens.h"
#include "tests/errors.h"
#include "tests/serve/explorers.h"

namespace attend {
namespace {

using Json = nlohmann::json;

class ExplorerViewsTest : public ExplorerTest {
 protected:
  // The number of a run that is forced to write "efg".
  size_t forced(const Json& more = Json::object()) {
    Json request = run_of("abcd", {{"output", "efg"}});
    request.update(more);
    const auto all = events(explorer_, request);
    EXPECT_EQ(all.back()["event"], "done") << all.back();
    return all.front()["run"];
  }
  Trace trace() const { return given_trace(model_, "abcd", "efg"); }
};

TEST_F(ExplorerViewsTest, TheLensIsThatOfTheRun) {
  const Json lens = Json::parse(explorer_.lens(forced(), {{"top", "3"}}));
  EXPECT_EQ(lens, Json::parse(lens_json(logit_lens(model_, trace(), 3))));
  EXPECT_EQ(lens["cells"][0][0]["likeliest"].size(), 3u);
  EXPECT_EQ(lens["written"], (Json{"e", "f", "g", "</s>"}));
  expect_error<ConfigError>([&] { explorer_.lens(forced(), {{"top", "51"}}); }, "use 1 to 50");
}

// A text that was cut at its limit has no end: what would follow stands there, of the run and of
// any other leaf of its tree.
TEST_F(ExplorerViewsTest, TheLensOfACutTextShowsWhatWouldFollow) {
  for (const double temperature : {0.0, 1.0}) {
    const auto run = [&](size_t most) {
      return events(
          explorer_,
          run_of("abcd",
                 {{"start", "ab"}, {"most", most}, {"beam", 1}, {"temperature", temperature}}));
    };
    size_t cut_texts = 0;
    for (const size_t most : {1, 2, 3, 4}) {
      const auto cut = run(most), longer = run(most + 1);
      const Json& path = cut.back()["path"];
      const size_t written = 2 + most;
      if (path.size() < written || cut.back()["tokens"].back() == "</s>") continue;  // it ended
      ++cut_texts;
      EXPECT_EQ(cut.back()["tokens"].size(), written) << "and nothing that would be written";
      const Json& tokens = longer.back()["tokens"];
      ASSERT_EQ(tokens.size(), written + 1);
      const Json lens = Json::parse(explorer_.lens(cut.front()["run"], {}));
      EXPECT_EQ(lens["written"].back(), tokens[written]) << temperature;
      if (temperature > 0) continue;  // the path is followed by what is likeliest
      const std::string before = std::to_string(path[written - 2].get<size_t>());
      const Json shorter = Json::parse(explorer_.lens(cut.front()["run"], {{"path", before}}));
      EXPECT_EQ(shorter["written"].back(), tokens[written - 1]);
    }
    EXPECT_GT(cut_texts, 0u);
  }
}

TEST_F(ExplorerViewsTest, ACellIsThatOfTheRun) {
  const size_t run = forced();
  const Json cell = Json::parse(explorer_.cell(
      run, {{"layer", "decoder.1.cross"}, {"head", "1"}, {"row", "2"}, {"column", "3"}}));
  EXPECT_EQ(cell,
            Json::parse(cell_json(attention_cell(model_, trace(), {"decoder.1.cross", 1, 2, 3}))));
  EXPECT_EQ(cell["key"]["text"], "d");
  EXPECT_EQ(cell["query"]["text"], "g");
}

TEST_F(ExplorerViewsTest, ACellOfManyHeadsHasTheirWeights) {
  const size_t run = forced();
  const Json of_layer = Json::parse(
      explorer_.cell(run, {{"layer", "decoder.1.cross"}, {"row", "2"}, {"column", "3"}}))["heads"];
  ASSERT_EQ(of_layer.size(), 2u);
  const Json of_pair = Json::parse(explorer_.cell(
      run, {{"queries", "target"}, {"keys", "source"}, {"row", "2"}, {"column", "3"}}))["heads"];
  ASSERT_EQ(of_pair.size(), 4u);
  EXPECT_EQ(of_pair[3], of_layer[1]);
  EXPECT_NEAR(of_pair[3]["weight"].get<float>(),
              attention_cell(model_, trace(), {"decoder.1.cross", 1, 2, 3}).weight, 1e-6f);
}

TEST_F(ExplorerViewsTest, ACellThatIsNotThereIsRefused) {
  const size_t run = forced();
  expect_error<ConfigError>(
      [&] {
        explorer_.cell(
            run, {{"layer", "decoder.1.cross"}, {"head", "1"}, {"row", "9"}, {"column", "0"}});
      },
      "there is no cell 9, 0");
  expect_error<ConfigError>(
      [&] {
        explorer_.cell(run, {{"layer", "decoder.1.cross"}, {"head", "1"}, {"row", "0"}});
      },
      "column is ''; use a whole number");
}

TEST_F(ExplorerViewsTest, ARunKeepsTheHeadsThatAreKnockedOut) {
  const size_t whole = forced();
  const size_t without = forced({{"knocked_out",
                                  {{{"layer", "decoder.0.cross"}, {"head", 1}},
                                   {{"layer", "encoder.0.self"}, {"head", nullptr}}}}});
  EXPECT_TRUE(Json::parse(explorer_.run(whole))["knocked_out"].empty());
  EXPECT_EQ(Json::parse(explorer_.run(without))["knocked_out"][0],
            (Json{{"layer", "decoder.0.cross"}, {"head", 1}}));
  const auto map = [&](size_t run, const char* layer, const char* head) {
    return explorer_.map(run, {{"layer", layer}, {"head", head}});
  };
  const std::string gone = map(without, "decoder.0.cross", "1");
  EXPECT_EQ(gone.substr(8), std::string(gone.size() - 8, '\0'));  // all weights are 0
  EXPECT_NE(map(without, "decoder.1.cross", "0"), map(whole, "decoder.1.cross", "0"));
  EXPECT_NE(explorer_.lens(without, {}), explorer_.lens(whole, {}));
  const Json cell = Json::parse(explorer_.cell(
      without, {{"layer", "decoder.0.cross"}, {"head", "1"}, {"row", "0"}, {"column", "0"}}));
  EXPECT_EQ(cell["steps"].back()["name"], "knocked out");
  EXPECT_EQ(map(forced(), "decoder.1.cross", "0"), map(whole, "decoder.1.cross", "0"));
}

TEST_F(ExplorerViewsTest, ATextIsWrittenWithoutAHead) {
  const auto with = events(explorer_, run_of("abcd", {{"beam", 2}}));
  const auto without = events(
      explorer_, run_of("abcd", {{"beam", 2}, {"knocked_out", {{{"layer", "decoder.1.self"}}}}}));
  ASSERT_EQ(without.back()["event"], "done");
  EXPECT_NE(with[1]["nodes"][0]["log_probability"], without[1]["nodes"][0]["log_probability"]);
}

TEST_F(ExplorerViewsTest, HeadsThatAreNotThereAreRefused) {
  const auto error_of = [&](const Json& knocked_out) {
    const auto all = events(explorer_, run_of("abcd", {{"knocked_out", knocked_out}}));
    return all.back().value("error", "");
  };
  EXPECT_NE(error_of({{{"layer", "nowhere"}}}).find("no attention layer 'nowhere'"),
            std::string::npos);
  EXPECT_NE(error_of({{{"layer", "decoder.0.cross"}, {"head", 2}}}).find("there is no head 2"),
            std::string::npos);
  for (const Json& wrong : {Json("a"), Json{1}, Json{{{"head", 1}}}, Json{{{"layer", 1}}},
                            Json{{{"layer", "decoder.0.cross"}, {"head", -1}}}}) {
    EXPECT_NE(error_of(wrong).find("use a list of objects"), std::string::npos) << wrong;
  }
}

}  // namespace
}  // namespace attend
