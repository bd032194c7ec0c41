#include "attend/decode/align_text.h"

#include <gtest/gtest.h>

#include "tests/decode/text_model.h"
#include "tests/errors.h"

namespace attend {
namespace {

using Texts = std::vector<std::string>;

TEST(AlignText, WordsHaveTheWeightsOfTheirTokens) {
  const Texts lines = {"ab c", "d"};
  const TextModel model = small_text_model(TokenizerKind::kCharacter, lines);
  const auto source = model.tokenizer("source").encode(lines[0]),
             target = model.tokenizer("target").encode("c ba");
  // Letters a b space c; rows c, space, b, a and the end.
  const Tensor letters =
      Tensor::of({1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 0, 4, 4, 2, 9, 0, 1, 1, 1, 1}, {5, 4});
  const Tensor words = word_weights(letters, model, source, target);
  EXPECT_EQ(words.shape(), (Shape{3, 2}));
  EXPECT_EQ(words.to_vector(), (std::vector<float>{3, 4, 4, 2, 2, 1}));
}

TEST(AlignText, WordsOfSubwordsAreThoseOfTheText) {
  const Texts lines = {"der kleine hund bellt", "die kleine katze schläft", "hunde"};
  for (const TokenizerKind kind :
       {TokenizerKind::kBpe, TokenizerKind::kUnigram, TokenizerKind::kWord, TokenizerKind::kByte}) {
    const TextModel model = small_text_model(kind, lines);
    const auto aligned = align_text(model, std::span(lines).first(2), std::span(lines).last(2), {});
    const Tensor words =
        word_weights(aligned[0].weights, model, aligned[0].source, aligned[0].target);
    EXPECT_EQ(words.shape(), (Shape{5, 4})) << name_of(kind);
    const Tensor one =
        word_weights(aligned[1].weights, model, aligned[1].source, aligned[1].target);
    EXPECT_EQ(one.shape(), (Shape{2, 4})) << name_of(kind);
  }
}

TEST(AlignText, RanksEveryLayerAndHead) {
  const Texts sources = {"a b c d", "e f"}, targets = {"d c b a", "f e"};
  TextModel model = small_text_model(TokenizerKind::kWord, {"a b c d e f"});
  const std::vector<std::vector<Link>> gold = {parse_links("0-3 1-2 2-1 3-0"),
                                               parse_links("0-1 1-0")};
  const auto ranked = rank_alignments(model, sources, targets, gold);
  ASSERT_EQ(ranked.size(), 6u);  // two layers: their means and two heads each
  for (size_t i = 0; i < ranked.size(); ++i) {
    const RankedAlignment& r = ranked[i];
    if (i > 0) {
      EXPECT_GE(alignment_error_rate(r.stats), alignment_error_rate(ranked[i - 1].stats));
    }
    AlignmentStats stats;
    const auto aligned = align_text(model, sources, targets, {r.place.layer, r.place.head});
    for (size_t j = 0; j < aligned.size(); ++j) {
      stats += alignment_stats(strongest_links(aligned[j].weights), gold[j]);
    }
    EXPECT_EQ(stats.sure_matches, r.stats.sure_matches);
  }
  expect_error<ConfigError>([&] { align_text(model, sources, targets, {.layer = "best"}); },
                            "attend evaluate MODEL");
  model.best_alignment = ranked[0].place;
  const auto best = align_text(model, sources, targets, {.layer = "best"});
  const auto same =
      align_text(model, sources, targets, {ranked[0].place.layer, ranked[0].place.head});
  EXPECT_EQ(best[0].weights.to_vector(), same[0].weights.to_vector());
}

TEST(AlignText, ALanguageModelHasNothingToAlign) {
  const TextModel model = toy_language_model();
  const Texts lines = {"abc"};
  expect_error<ConfigError>([&] { align_text(model, {}, lines, {}); },
                            "the model reads nothing besides the text that it writes");
}

}  // namespace
}  // namespace attend
