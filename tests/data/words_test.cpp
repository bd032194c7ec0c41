#include "attend/data/words.h"

#include <gtest/gtest.h>

#include "attend/text/tokenizer.h"

namespace attend {
namespace {

using Words = std::vector<std::string_view>;

TEST(Words, StandBetweenWhiteSpace) {
  EXPECT_EQ(words_of("a bc  d"), (Words{"a", "bc", "d"}));
  EXPECT_EQ(words_of(" \ta\t\tb \r"), (Words{"a", "b"}));
  EXPECT_EQ(words_of("one"), (Words{"one"}));
  EXPECT_EQ(words_of("ä,ö"), (Words{"ä,ö"}));
  EXPECT_EQ(words_of(""), Words());
  EXPECT_EQ(words_of(" \t "), Words());
}

// What a tagger reads is what a model that was pretrained on the line has read.
TEST(Words, BecomeTheTokensOfTheirLine) {
  const std::string line = "the dog läuft to the dogs";
  std::vector<std::string> lines(30, line);
  for (const TokenizerKind kind :
       {TokenizerKind::kCharacter, TokenizerKind::kWord, TokenizerKind::kByte, TokenizerKind::kBpe,
        TokenizerKind::kUnigram}) {
    for (const bool lossless : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(kind), lossless));
      const auto tokenizer =
          train_tokenizer({.kind = kind, .vocabulary = 40, .lossless = lossless}, lines);
      const auto encode = [&](std::string_view text) { return tokenizer->encode(text); };
      const WordTokens tokens = encode_words(encode, words_of(line), 0);
      EXPECT_EQ(tokens.ids, tokenizer->encode(line));
      ASSERT_EQ(tokens.last.size(), 6u);
      EXPECT_EQ(tokens.last.back() + 1, static_cast<int32_t>(tokens.ids.size()));
      // The tokens up to the end of the second word are those of two words.
      const auto two = std::span(tokens.ids).first(static_cast<size_t>(tokens.last[1]) + 1);
      EXPECT_EQ(tokenizer->decode(two), "the dog");
    }
  }
}

TEST(Words, OneWithoutTokensIsUnknown) {
  const auto nothing_of_x = [](std::string_view text) {
    return text.find('x') == text.npos ? std::vector<int32_t>{7, 8} : std::vector<int32_t>();
  };
  const Words words = {"a", "x", "b"};
  const WordTokens tokens = encode_words(nothing_of_x, words, 5);
  EXPECT_EQ(tokens.ids, (std::vector<int32_t>{7, 8, 5, 7, 8}));
  EXPECT_EQ(tokens.last, (std::vector<int32_t>{1, 2, 4}));
  EXPECT_TRUE(encode_words(nothing_of_x, {}, 5).ids.empty());
}

}  // namespace
}  // namespace attend
