// Lines of text through a model.
#include "attend/decode/translator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "attend/decode/score.h"
#include "attend/models/label.h"
#include "tests/decode/text_model.h"
#include "tests/errors.h"

namespace attend {
namespace {

TextModel small_translator() { return small_text_model(TokenizerKind::kCharacter, {"abcde f"}); }

// That has learned no more than so many positions.
TextModel model_of_positions(size_t positions) {
  TextModel model = small_translator();
  TransformerConfig& config = model.config.settings.as<TransformerConfig>();
  config.positions = PositionScheme::kLearned;
  config.max_length = positions;
  Rng rng(1);
  model.model = make_model(model.config, rng);
  return model;
}

TEST(Translator, AnEmptyLineStaysEmpty) {
  const Translator translate(
      {small_translator()},
      {.search = {.beam = 3, .n_best = 3, .min_length = 2}, .alignment = AlignmentConfig()});
  const std::vector<std::string> lines = {"abc", "", " \t ", "de"};
  const auto all = translate(lines);
  ASSERT_EQ(all.size(), 4u);
  for (const size_t i : {1u, 2u}) {
    EXPECT_EQ(all[i].texts, std::vector<std::string>{""});
    ASSERT_EQ(all[i].hypotheses.size(), 1u);
    EXPECT_TRUE(all[i].hypotheses[0].tokens.empty());
    EXPECT_TRUE(all[i].hypotheses[0].ended);
    EXPECT_EQ(all[i].hypotheses[0].score, 0.0);
    EXPECT_EQ(all[i].source, std::vector<int32_t>{translate.source().special().end});
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
  const Translator translate({small_translator()}, {.search = {.beam = 1, .min_length = 3}});
  const std::vector<std::string> lines = {""}, starts = {"ab"};
  const auto all = translate(lines, 0, starts);
  EXPECT_TRUE(all[0].texts[0].starts_with("ab"));
  EXPECT_GE(all[0].hypotheses[0].tokens.size(), 3u);
}

TEST(Translator, LogProbabilitiesAreThoseOfScoring) {
  const TextModel model = small_translator();
  const Translator translate({model}, {.search = {.beam = 3, .n_best = 3, .max_length = 30}});
  const std::vector<std::string> sources = {"abc", "e"};
  const auto all = translate(sources);
  for (size_t i = 0; i < sources.size(); ++i) {
    for (size_t n = 0; n < all[i].texts.size(); ++n) {
      if (!all[i].hypotheses[n].ended) continue;
      const auto scored =
          score_text(model, std::span(&sources[i], 1), std::span(&all[i].texts[n], 1));
      EXPECT_NEAR(all[i].hypotheses[n].log_probability, scored.front().scored.total, 1e-4);
    }
  }
}

TEST(Translator, RefusesAModelThatDoesNotTranslate) {
  TextModel label;
  label.tokenizers = {{"text", small_translator().tokenizers.at("source")},
                      {"label", train_tokenizer({.kind = TokenizerKind::kLine, .vocabulary = 0},
                                                std::vector<std::string>{"good", "bad"})}};
  label.config = ModelConfig("label");
  auto& encoder = label.config.settings.as<LabelConfig>().encoder.settings;
  encoder.as<TransformerConfig>().width = 16, encoder.as<TransformerConfig>().heads = 2;
  label.config.set_vocabularies({{"text", label.tokenizer("text").size()}, {"label", 2}});
  Rng rng(1);
  label.model = make_model(label.config, rng);
  expect_error<ConfigError>([&] { Translator({label}, {}); }, "use classify");
  expect_error<ConfigError>([&] { Translator({toy_language_model()}, {}); },
                            "the model reads nothing but the text that it writes: it is a language "
                            "model; use generate");
  expect_error<ConfigError>([&] { Translator({}, {}); }, "no model");
}

TEST(Translator, ModelsOfAnEnsembleShareTheirTokenizers) {
  const TextModel other = small_text_model(TokenizerKind::kCharacter, {"abcdx y"});
  expect_error<ConfigError>(
      [&] {
        Translator({small_translator(), other}, {});
      },
      "must share their tokenizers");
  const std::vector<std::string> lines = {"abc"};
  const auto one = Translator({small_translator()}, {})(lines);
  const auto twice = Translator({small_translator(), small_translator()}, {})(lines);
  EXPECT_EQ(one[0].texts, twice[0].texts);
}

TEST(Translator, NeverWritesWhatIsBanned) {
  const TextModel model = small_translator();
  const std::vector<std::string> lines = {"abc", "def"};
  const SearchConfig search{.beam = 3, .min_length = 3, .max_length = 8};
  const std::string text = Translator({model}, {.search = search})(lines)[0].texts[0];
  const std::vector<int32_t> banned = model.tokenizer("target").encode(text.substr(0, 1));
  for (const Translation& t : Translator({model}, {.search = search, .banned = {banned}})(lines)) {
    EXPECT_EQ(std::ranges::count(t.hypotheses[0].tokens, banned[0]), 0);
  }
}

TEST(Translator, SamplesFollowTheNumberOfTheLine) {
  const Translator translate({small_translator()},
                             {.search = {.n_best = 3, .sample = true, .max_length = 9}});
  const std::vector<std::string> lines = {"abc", "abc", "de", "f"};
  const auto all = translate(lines);
  const auto rest = translate(std::span(lines).subspan(1), 1);
  EXPECT_NE(all[0].texts, all[1].texts);
  for (size_t i = 0; i < rest.size(); ++i) EXPECT_EQ(rest[i].texts, all[i + 1].texts);
}

TEST(Translator, StopsWhenItIsToldTo) {
  const std::atomic<bool> stop = true;
  const Translator translate({small_translator()}, {.stop = &stop});
  const std::vector<std::string> lines = {"abc"};
  EXPECT_THROW(translate(lines), Stopped);
}

TEST(Translator, RefusesALineThatIsTooLong) {
  const std::vector<std::string> lines = {"abc", "abcde"};
  const Translator few({small_translator()}, {.longest_line = 4});
  expect_error<DataError>([&] { few(lines, 10); },
                          "translate: line 12: the line has 5 tokens, but at most 4 are allowed");
  EXPECT_TRUE(few.fits("abcd"));
  EXPECT_FALSE(few.fits("abcde"));
  expect_error<DataError>([&] { few.check("abcde", "a.txt:3"); }, "a.txt:3: the line has 5 tokens");

  const Translator placed({model_of_positions(5)}, {.longest_line = 100});
  expect_error<DataError>([&] { placed(lines); },
                          "the model has learned positions for 4; break it");
  EXPECT_TRUE(placed.fits("abcd"));
  EXPECT_EQ(placed(std::span(lines).first(1)).size(), 1u);
}

TEST(Translator, HypothesesStayWithinLearnedPositions) {
  const Translator translate({model_of_positions(6)}, {.search = {.beam = 2, .min_length = 40},
                                                       .alignment = AlignmentConfig()});
  const std::vector<std::string> lines = {"abcde", "a"};
  for (const Translation& t : translate(lines)) EXPECT_EQ(t.hypotheses[0].tokens.size(), 5u);
}

// What is unknown has no text, so that many sequences of tokens have the same.
TEST(Translator, ATextIsThereOnce) {
  SearchConfig search{.beam = 12, .n_best = 12, .max_length = 3, .allow_unknown = true};
  const TextModel model = small_translator();
  const std::vector<std::string> lines = {"abc"};
  const Tokenizer& target = model.tokenizer("target");
  const std::vector<std::vector<int32_t>> ids = {model.tokenizer("source").encode(lines[0])};
  const auto found =
      attend::search(model.generator(), model.inputs(ids), search, search_runtime(model))[0];
  std::set<std::string> different;
  for (const Hypothesis& h : found) different.insert(target.decode(h.tokens));
  ASSERT_LT(different.size(), found.size());

  const Translation best = Translator({model}, {.search = search})(lines)[0];
  EXPECT_EQ(std::set<std::string>(best.texts.begin(), best.texts.end()), different);
  EXPECT_EQ(best.texts.size(), different.size());
  ASSERT_EQ(best.hypotheses.size(), best.texts.size());
  for (size_t i = 0; i < best.texts.size(); ++i) {
    const auto better = std::ranges::find_if(
        found, [&](const Hypothesis& h) { return target.decode(h.tokens) == best.texts[i]; });
    EXPECT_EQ(better->score, best.hypotheses[i].score);
  }
}

}  // namespace
}  // namespace attend
