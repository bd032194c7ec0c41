#include "attend/decode/score_text.h"

#include <gtest/gtest.h>

#include "tests/decode/text_model.h"
#include "tests/errors.h"

namespace attend {
namespace {

TextModel small_model() { return small_text_model(TokenizerKind::kCharacter, {"abcde"}); }

TEST(ScoreText, BatchesChangeNothingButSpeed) {
  const TextModel model = small_model();
  const std::vector<std::string> sources = {"a", "edcba", "", "bad"};
  const std::vector<std::string> targets = {"abc", "", "a", "dab"};
  const auto together = score_text(model, sources, targets);
  const auto alone = score_text(model, sources, targets, 1);
  ASSERT_EQ(together.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(together[i].tokens, model.target->encode(targets[i]));
    EXPECT_EQ(together[i].scored.log_probabilities.size(), targets[i].size() + 1);
    EXPECT_NEAR(together[i].scored.total, alone[i].scored.total, 1e-4);
  }
}

TEST(ScoreText, EachSourceHasItsTarget) {
  const TextModel model = small_model();
  const std::vector<std::string> one = {"a"}, two = {"a", "b"};
  expect_error<DataError>([&] { score_text(model, one, two); }, "1 sources but 2 targets");
}

}  // namespace
}  // namespace attend
