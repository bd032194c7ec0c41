// What a masked language model would write where texts have masks.
#include "attend/decode/fill.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/decode/loaded_model.h"
#include "attend/tensor/tape.h"
#include "tests/decode/filling_model.h"
#include "tests/errors.h"
#include "tests/files.h"

namespace attend {
namespace {

FilledMasks filled(const TextModel& model, const std::string& text, size_t count = 1000) {
  return fill_masks(model, {&text, 1}, count).front();
}

TEST(Fill, GivesTheProbabilitiesOfTheModel) {
  const NoGrad no_grad;
  const TextModel model = filling();
  const Tokenizer& tokenizer = model.tokenizer("text");
  const auto masks = filled(model, "the [MASK] sat");
  ASSERT_EQ(masks.size(), 1u);
  // The same from the logits.
  std::vector<int32_t> ids = tokenizer.encode("the cat sat");
  ids[1] = tokenizer.special().mask;
  ids.insert(ids.begin(), kStart);
  ids.push_back(kEnd);
  const std::vector<int32_t> row = {2};
  const auto logits = model.masked_predictor()
                          .predict(Batch("text", one_sequence(ids)), Tensor::ids(row, {1}))
                          .tokens.to_vector();
  double sum = 0, special = 0, candidates = 0;
  for (const float x : logits) sum += std::exp(double{x});
  for (int32_t id = 0; id < tokenizer.first_piece(); ++id) {
    special += std::exp(double{logits[static_cast<size_t>(id)]}) / sum;
  }
  for (const FilledToken& token : masks[0]) {
    candidates += token.probability;
    EXPECT_NEAR(token.probability, std::exp(double{logits[static_cast<size_t>(token.id)]}) / sum,
                1e-6);
    EXPECT_EQ(token.piece, tokenizer.piece(token.id));
    EXPECT_EQ(token.text, "the " + token.piece + " sat");
  }
  EXPECT_NEAR(candidates + special, 1, 1e-6);
  EXPECT_TRUE(std::ranges::is_sorted(masks[0], std::greater{}, &FilledToken::probability));
}

TEST(Fill, SpecialTokensAreNoCandidates) {
  const TextModel model = filling();
  const auto masks = filled(model, "[MASK]");
  EXPECT_EQ(masks[0].size(), model.tokenizer("text").size() - 4);
  for (const FilledToken& token : masks[0]) EXPECT_GE(token.id, 4);
  EXPECT_EQ(filled(model, "[MASK]", 3)[0].size(), 3u);
  EXPECT_EQ(filled(model, "[MASK]", 3)[0][2].id, masks[0][2].id);
}

TEST(Fill, EachMaskHasItsOwn) {
  const TextModel model = filling();
  const auto masks = filled(model, "the [MASK] sat on <mask> mat");
  ASSERT_EQ(masks.size(), 2u);
  EXPECT_NE(masks[0][0].probability, masks[1][0].probability);
  // The other mask is left out of the text.
  EXPECT_EQ(masks[0][0].text, "the " + masks[0][0].piece + " sat on mat");
  EXPECT_EQ(masks[1][0].text, "the sat on " + masks[1][0].piece + " mat");
  EXPECT_EQ(filled(model, "[MASK][MASK]").size(), 2u);
  EXPECT_TRUE(filled(model, "the cat").empty());
  EXPECT_TRUE(filled(model, "").empty());
  EXPECT_TRUE(filled(model, "[mask] MASK").empty());
}

TEST(Fill, EveryTokenizerKeepsTheTextAroundAMask) {
  for (const TokenizerKind kind : {TokenizerKind::kCharacter, TokenizerKind::kByte,
                                   TokenizerKind::kBpe, TokenizerKind::kUnigram}) {
    SCOPED_TRACE(name_of(kind));
    const TextModel model = filling(kind);
    const Tokenizer& tokenizer = model.tokenizer("text");
    const bool letters = kind == TokenizerKind::kCharacter || kind == TokenizerKind::kByte;
    const auto masks = filled(model, letters ? "a c[MASK]t" : "the [MASK]");
    ASSERT_EQ(masks.size(), 1u);
    for (const FilledToken& token : masks[0]) {
      std::vector<int32_t> ids = tokenizer.encode(letters ? "a c" : "the");
      ids.push_back(token.id);
      const auto rest = letters ? tokenizer.encode("t") : std::vector<int32_t>();
      ids.insert(ids.end(), rest.begin(), rest.end());
      EXPECT_EQ(token.text, tokenizer.decode(ids));
    }
  }
}

TEST(Fill, ATextFitsThePositions) {
  const auto words = [](size_t count) {
    std::string text = "[MASK]";
    for (size_t i = 1; i < count; ++i) text += " cat";
    return text;
  };
  EXPECT_EQ(filled(filling(), words(kFillPositions - 2)).size(), 1u);
  for (const size_t count : {kFillPositions - 1, size_t{10'000}}) {
    expect_error<DataError>([&] { filled(filling(), words(count)); }, "learned positions for 10");
  }
  // A model of pairs reads the end of a second text, too.
  const TextModel pairs = filling(TokenizerKind::kWord, true);
  EXPECT_EQ(filled(pairs, words(kFillPositions - 3)).size(), 1u);
  expect_error<DataError>([&] { filled(pairs, words(kFillPositions - 2)); },
                          "learned positions for 9");
}

TEST(Fill, ALoadedModelFills) {
  const LoadedModel model(filling());
  const FilledMasks masks = model.fill("the [MASK] sat", 2);
  ASSERT_EQ(masks.size(), 1u);
  EXPECT_EQ(masks[0].size(), 2u);
  EXPECT_EQ(masks[0][0].id, filled(filling(), "the [MASK] sat", 1)[0][0].id);
  EXPECT_TRUE(model.fill("the cat sat").empty());
  expect_error<ConfigError>([&] { model.translate("the cat"); }, "use fill");
  expect_error<ConfigError>([&] { model.classify("the cat"); }, "use fill");
}

}  // namespace
}  // namespace attend
