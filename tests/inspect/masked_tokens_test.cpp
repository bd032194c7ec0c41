// What a masked model would write at each place of a text: numbers and pictures.
#include "attend/inspect/masked_tokens.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "attend/attention/intervention.h"
#include "attend/decode/fill.h"
#include "tests/decode/filling_model.h"
#include "tests/errors.h"
#include "tests/inspect/maps.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

const std::string kMaskedText = "the cat sat on a mat";

// What stands at a place, by fill_masks(): the same text with its n-th word masked.
std::vector<FilledToken> by_filling(const TextModel& model, size_t word) {
  std::string text;
  size_t number = 0;
  for (size_t begin = 0; begin < kMaskedText.size();) {
    const size_t end = std::min(kMaskedText.find(' ', begin), kMaskedText.size());
    if (!text.empty()) text += ' ';
    text += number++ == word ? "[MASK]" : kMaskedText.substr(begin, end - begin);
    begin = end + 1;
  }
  return fill_masks(model, {&text, 1}, 1000).front().front();
}

TEST(MaskedTokens, EachPlaceIsWhatFillingSays) {
  const TextModel model = filling();
  const Trace trace = given_trace(model, kMaskedText);
  const auto places = masked_tokens(model, trace, {.top = 4});
  ASSERT_EQ(places.size(), 6u);
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(places[i].sequence, 0u);
    EXPECT_EQ(places[i].item, i + 1);  // after the start
    const auto filled = by_filling(model, i);
    const Candidates& found = places[i].candidates;
    ASSERT_EQ(found.likeliest.size(), 4u);
    for (size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(found.likeliest[j].id, filled[j].id);
      EXPECT_NEAR(found.likeliest[j].probability, filled[j].probability, 1e-6);
    }
    const int32_t own = trace.sequences[0].ids[i + 1];
    ASSERT_LE(found.rank, filled.size());
    EXPECT_EQ(filled[found.rank - 1].id, own);
    EXPECT_NEAR(found.probability, filled[found.rank - 1].probability, 1e-6);
  }
}

// However many copies go through the model together.
TEST(MaskedTokens, OneBatchHasTheBitsOfMany) {
  const TextModel model = filling();
  const Trace trace = given_trace(model, kMaskedText);
  const auto whole = masked_tokens(model, trace);
  const auto parts = masked_tokens(model, trace, {.most_rows = 1});
  EXPECT_EQ(masked_tokens_json(trace, whole), masked_tokens_json(trace, parts));
}

TEST(MaskedTokens, BothTextsOfAPairHavePlaces) {
  const TextModel model = filling(TokenizerKind::kWord, true);
  const Trace trace = given_trace(model, {{"text", "the cat"}, {"pair", "a dog ran"}});
  const auto places = masked_tokens(model, trace);
  ASSERT_EQ(places.size(), 5u);
  const auto json = nlohmann::json::parse(masked_tokens_json(trace, places))["places"];
  EXPECT_EQ(json[1]["sequence"], "text");
  EXPECT_EQ(json[1]["token"], "cat");
  EXPECT_EQ(json[2]["sequence"], "pair");
  EXPECT_EQ(json[2]["item"], 0);  // no start before the second text
  EXPECT_EQ(json[4]["token"], "ran");
  // What the first text says, the second hears.
  const Trace other = given_trace(model, {{"text", "the mat"}, {"pair", "a dog ran"}});
  const auto changed = masked_tokens(model, other);
  EXPECT_NE(changed[4].candidates.probability, places[4].candidates.probability);
  EXPECT_EQ(changed[1].candidates.likeliest.front().probability,
            places[1].candidates.likeliest.front().probability);  // "cat" and "mat" are hidden
}

TEST(MaskedTokens, FollowAnIntervention) {
  const TextModel model = filling();
  const Trace trace = given_trace(model, kMaskedText);
  const auto before = masked_tokens(model, trace);
  Intervention intervention;
  intervention.knock_out({"layers.1.self"});
  EXPECT_NE(masked_tokens(model, trace)[0].candidates.probability,
            before[0].candidates.probability);
}

TEST(MaskedTokens, AnUnknownTokenHasItsProbability) {
  const TextModel model = filling();
  const Trace trace = given_trace(model, "the zebra sat");
  const auto places = masked_tokens(model, trace, {.top = 50});
  EXPECT_GT(places[1].candidates.probability, 0.0f);
  const int32_t unknown = model.tokenizer("text").special().unknown;
  for (const CandidateToken& token : places[1].candidates.likeliest) {
    EXPECT_NE(token.id, unknown);
  }
}

TEST(MaskedTokens, SayWhatIsWrong) {
  const TextModel label = small_label_model(LabelPooling::kFirst);
  expect_error<ConfigError>([&] { masked_tokens(label, given_trace(label, "abc", "a")); },
                            "label model");
  ModelConfig unmasked("bert");
  unmasked.settings.as<BertConfig>().width = 16;
  unmasked.settings.as<BertConfig>().heads = 2;
  const TextModel without = small_model(unmasked);
  expect_error<ConfigError>([&] { masked_tokens(without, given_trace(without, "ab")); },
                            "no mask token");
  const TextModel model = filling();
  const Trace trace = given_trace(model, kMaskedText);
  expect_error<ConfigError>([&] { masked_tokens(model, trace, {.top = 0}); }, "use 1 to 50");
  expect_error<ConfigError>([&] { masked_tokens(model, trace, {.top = 51}); }, "use 1 to 50");
  const auto places = masked_tokens(model, trace);
  expect_error<ConfigError>([&] { draw_masked_tokens(trace, places, PictureFormat::kMoses); },
                            "no word links");
}

TEST(MaskedTokens, ArePictures) {
  const TextModel model = filling();
  const Trace trace = given_trace(model, kMaskedText);
  const auto places = masked_tokens(model, trace, {.top = 3});
  const std::string text = draw_masked_tokens(trace, places, PictureFormat::kTerminal);
  const std::vector<std::string> lines = lines_of(text);
  ASSERT_EQ(lines.size(), 6u) << text;
  EXPECT_TRUE(lines[0].starts_with("1    ")) << text;
  EXPECT_TRUE(lines[3].starts_with("text the     cat     sat     on ")) << text;
  EXPECT_TRUE(lines[4].starts_with("rank ")) << text;
  const std::string svg = draw_masked_tokens(trace, places, PictureFormat::kSvg);
  EXPECT_EQ(count(svg, "<title>"), 18u);
  EXPECT_NE(svg.find("cat hidden"), svg.npos);
  const std::string html = draw_masked_tokens(trace, places, PictureFormat::kHtml);
  EXPECT_NE(html.find("<h1>Masked tokens</h1>"), html.npos);
  const std::string bytes = draw_masked_tokens(trace, places, PictureFormat::kNpy);
  EXPECT_NE(bytes.find("'shape': (6,)"), bytes.npos);
}

}  // namespace
}  // namespace attend
