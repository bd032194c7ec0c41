#include "attend/decode/score.h"

#include <gtest/gtest.h>

#include "tests/decode/text_model.h"
#include "tests/errors.h"

namespace attend {
namespace {

TextModel small_scorer() { return small_text_model(TokenizerKind::kCharacter, {"abcde"}); }

TEST(ScoreText, BatchesChangeNothingButSpeed) {
  const TextModel model = small_scorer();
  const std::vector<std::string> sources = {"a", "edcba", "", "bad"};
  const std::vector<std::string> targets = {"abc", "", "a", "dab"};
  const auto together = score_text(model, sources, targets);
  const auto alone = score_text(model, sources, targets, 1);
  ASSERT_EQ(together.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(together[i].tokens, model.tokenizer("target").encode(targets[i]));
    EXPECT_EQ(together[i].scored.log_probabilities.size(), targets[i].size() + 1);
    EXPECT_NEAR(together[i].scored.total, alone[i].scored.total, 1e-4);
  }
}

TEST(ScoreText, EachSourceHasItsTarget) {
  const TextModel model = small_scorer();
  const std::vector<std::string> one = {"a"}, two = {"a", "b"};
  expect_error<DataError>([&] { score_text(model, one, two); }, "1 sources but 2 targets");
}

TEST(ScoreText, ALanguageModelScoresLinesAlone) {
  const TextModel model = toy_language_model();
  const std::vector<std::string> lines = {"abc", ""};
  const auto scored = score_text(model, {}, lines);
  ASSERT_EQ(scored.size(), 2u);
  EXPECT_EQ(scored[0].scored.log_probabilities.size(), 4u);
  EXPECT_EQ(scored[1].scored.log_probabilities.size(), 1u);
}

TEST(Score, IsWhatStepsGive) {
  const ToyGenerator model(7, 3);
  const SpecialTokens special{.unknown = 0, .start = 5, .end = 6};
  const Tokens written(std::vector<int32_t>{3, 4, 3}, Packing::of({2, 1}));
  const Batch inputs("source", Tokens(std::vector<int32_t>{1, 2, 3}, Packing::of({1, 2})));
  const auto scored = score(model, inputs, written, special);
  ASSERT_EQ(scored.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const std::vector<size_t> alone = {i};
    const auto state = model.start(inputs.pick(alone));
    const auto labels = framed(written.sequence(i), {.end = true}, special);
    int32_t token = special.start;
    double total = 0;
    ASSERT_EQ(scored[i].log_probabilities.size(), labels.size());
    for (size_t t = 0; t < labels.size(); ++t) {
      const std::vector<float> row = model.step(*state, std::vector{token}).to_vector();
      double sum = 0;
      for (const float logit : row) sum += std::exp(double{logit});
      token = labels[t];
      const double expected = double{row[static_cast<size_t>(token)]} - std::log(sum);
      EXPECT_NEAR(scored[i].log_probabilities[t], expected, 1e-5);
      total += expected;
    }
    EXPECT_NEAR(scored[i].total, total, 1e-5);
  }
  const std::vector<size_t> first = {0};
  expect_error<DataError>([&] { score(model, inputs.pick(first), written, special); },
                          "1 records but 2 sequences");
}

}  // namespace
}  // namespace attend
