// Lines of text through a model.
#include "attend/decode/translator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "attend/base/special_tokens.h"
#include "tests/decode/text_model.h"
#include "tests/errors.h"

namespace attend {
namespace {

TextModel small_model() { return small_text_model(TokenizerKind::kCharacter, {"abcde f"}); }

// That knows no more than so many places.
TextModel model_of_places(size_t places) {
  TextModel model = small_model();
  model.config.transformer.positions = PositionScheme::kLearned;
  model.config.transformer.max_length = places;
  Rng rng(1);
  model.model = make_model(model.config, rng);
  return model;
}

TEST(Translator, AnEmptyLineStaysEmpty) {
  const Translator translate({small_model()}, {.search = {.beam = 3, .n_best = 3, .min_length = 2},
                                               .alignment = AlignmentConfig()});
  const std::vector<std::string> lines = {"abc", "", " \t ", "de"};
  const auto all = translate(lines);
  ASSERT_EQ(all.size(), 4u);
  for (const size_t i : {1u, 2u}) {
    EXPECT_EQ(all[i].texts, std::vector<std::string>{""});
    ASSERT_EQ(all[i].hypotheses.size(), 1u);
    EXPECT_TRUE(all[i].hypotheses[0].tokens.empty());
    EXPECT_TRUE(all[i].hypotheses[0].ended);
    EXPECT_EQ(all[i].hypotheses[0].score, 0.0);
    EXPECT_EQ(all[i].source, std::vector<int32_t>{kEnd});
    ASSERT_EQ(all[i].alignments.size(), 1u);
    EXPECT_TRUE(strongest_links(all[i].alignments[0]).empty());
  }
  // The others are what they are without it.
  const std::vector<std::string> others = {"abc", "de"};
  const auto without = translate(others);
  EXPECT_EQ(all[0].texts, without[0].texts);
  EXPECT_EQ(all[3].texts, without[1].texts);
  EXPECT_GE(all[0].hypotheses[0].tokens.size(), 2u);
}

TEST(Translator, AnEmptyLineGoesOnFromItsStart) {
  const Translator translate({small_model()}, {.search = {.beam = 1, .min_length = 3}});
  const std::vector<std::string> lines = {""}, starts = {"ab"};
  const auto all = translate(lines, 0, starts);
  EXPECT_TRUE(all[0].texts[0].starts_with("ab"));
  EXPECT_GE(all[0].hypotheses[0].tokens.size(), 3u);
}

TEST(Translator, ALabelIsGivenToAnEmptyLineToo) {
  TextModel model = small_model();
  model.config.kind = ModelKind::kLabel;
  model.config.label.target_vocabulary = model.target->size();
  Rng rng(1);
  model.model = make_model(model.config, rng);
  const std::vector<std::string> lines = {""};
  EXPECT_EQ(Translator({model}, {})(lines)[0].hypotheses[0].tokens.size(), 1u);
}

TEST(Translator, RefusesALineThatIsTooLong) {
  const std::vector<std::string> lines = {"abc", "abcde"};
  const Translator few({small_model()}, {.longest_line = 4});
  expect_error<DataError>([&] { few(lines, 10); },
                          "translate: line 12: the line has 5 tokens, and at most 4 go through");
  EXPECT_TRUE(few.fits("abcd"));
  EXPECT_FALSE(few.fits("abcde"));
  expect_error<DataError>([&] { few.check("abcde", "a.txt:3"); }, "a.txt:3: the line has 5 tokens");

  const Translator placed({model_of_places(5)}, {.longest_line = 100});
  expect_error<DataError>([&] { placed(lines); }, "the model has learned places for 4; break it");
  EXPECT_TRUE(placed.fits("abcd"));
  EXPECT_EQ(placed(std::span(lines).first(1)).size(), 1u);
}

TEST(Translator, HypothesesStayWithinLearnedPlaces) {
  const Translator translate({model_of_places(6)}, {.search = {.beam = 2, .min_length = 40},
                                                    .alignment = AlignmentConfig()});
  const std::vector<std::string> lines = {"abcde", "a"};
  for (const Translation& t : translate(lines)) EXPECT_EQ(t.hypotheses[0].tokens.size(), 5u);
}

// What is unknown has no text, so that many sequences of tokens have the same.
TEST(Translator, ATextIsThereOnce) {
  SearchConfig search{.beam = 12, .n_best = 12, .max_length = 3, .allow_unknown = true};
  const TextModel model = small_model();
  const std::vector<std::string> lines = {"abc"};
  TokenLines source;
  std::vector<int32_t> ids = model.source->encode(lines[0]);
  ids.push_back(kEnd);
  source.add(ids);
  const auto found = attend::search(*model.model, source.tokens(), search)[0];
  std::set<std::string> different;
  for (const Hypothesis& h : found) different.insert(model.target->decode(h.tokens));
  ASSERT_LT(different.size(), found.size());

  const Translation best = Translator({model}, {.search = search})(lines)[0];
  EXPECT_EQ(std::set<std::string>(best.texts.begin(), best.texts.end()), different);
  EXPECT_EQ(best.texts.size(), different.size());
  ASSERT_EQ(best.hypotheses.size(), best.texts.size());
  for (size_t i = 0; i < best.texts.size(); ++i) {
    const auto better = std::ranges::find_if(found, [&](const Hypothesis& h) {
      return model.target->decode(h.tokens) == best.texts[i];
    });
    EXPECT_EQ(better->score, best.hypotheses[i].score);
  }
}

}  // namespace
}  // namespace attend
