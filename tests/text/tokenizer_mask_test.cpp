// A mask token: an id of its own that no text encodes to.
#include <gtest/gtest.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/text/tokenizer.h"
#include "attend/text/vocabulary.h"

namespace attend {
namespace {

constexpr TokenizerKind kMaskable[] = {TokenizerKind::kCharacter, TokenizerKind::kWord,
                                       TokenizerKind::kByte,      TokenizerKind::kBpe,
                                       TokenizerKind::kUnigram,   TokenizerKind::kWordpiece,
                                       TokenizerKind::kByteBpe};

std::shared_ptr<const Tokenizer> with_mask(TokenizerKind kind, bool mask, bool lossless = false) {
  std::vector<std::string> lines = {"the dog läuft", "a <mask> b", "a [MASK] b", "<mask> <mask>"};
  for (int i = 0; i < 50; ++i) lines.push_back("<mask>the dog<mask> the [MASK] </s>");
  const size_t vocabulary = kind == TokenizerKind::kByteBpe ? 300 : 60;
  return train_tokenizer(
      {.kind = kind, .vocabulary = vocabulary, .mask = mask, .lossless = lossless}, lines);
}

TEST(TokenizerMask, HasTheIdAfterTheOtherSpecialOnes) {
  for (const TokenizerKind kind : kMaskable) {
    SCOPED_TRACE(name_of(kind));
    const auto tokenizer = with_mask(kind, true), without = with_mask(kind, false);
    EXPECT_EQ(tokenizer->special(), (SpecialTokens{kUnknown, kStart, kEnd, kMask}));
    EXPECT_EQ(tokenizer->first_piece(), 4);
    const bool wordpiece = kind == TokenizerKind::kWordpiece;
    EXPECT_EQ(tokenizer->piece(kMask), wordpiece ? "[MASK]" : "<mask>");
    EXPECT_EQ(without->special(), (SpecialTokens{kUnknown, kStart, kEnd, -1}));
    EXPECT_EQ(without->first_piece(), 3);
  }
}

TEST(TokenizerMask, TextNeverSpellsIt) {
  for (const TokenizerKind kind : kMaskable) {
    for (const bool lossless : {false, true}) {
      SCOPED_TRACE(name_of(kind));
      const auto tokenizer = with_mask(kind, true, lossless);
      for (const std::string text :
           {"<mask>", "a <mask> b", "[MASK]", "the<mask>dog", "<mask> <mask>", "<s></s><mask>"}) {
        const std::vector<int32_t> ids = tokenizer->encode(text);
        EXPECT_EQ(std::ranges::count(ids, kMask), 0) << text;
        if (kind != TokenizerKind::kWordpiece && std::ranges::count(ids, kUnknown) == 0) {
          EXPECT_EQ(tokenizer->decode(ids), text);
        }
      }
    }
  }
}

TEST(TokenizerMask, IsSkippedInText) {
  for (const TokenizerKind kind : kMaskable) {
    const auto tokenizer = with_mask(kind, true);
    std::vector<int32_t> ids = tokenizer->encode("the dog");
    ids.insert(ids.begin(), {kStart, kMask});
    ids.insert(ids.end(), {kMask, kEnd});
    EXPECT_EQ(tokenizer->decode(ids), "the dog") << name_of(kind);
  }
}

TEST(TokenizerMask, SurvivesTheFile) {
  for (const TokenizerKind kind : kMaskable) {
    const auto tokenizer = with_mask(kind, true);
    const auto loaded = parse_tokenizer(tokenizer->serialized(), "tokenizer.model");
    EXPECT_EQ(loaded->special(), tokenizer->special()) << name_of(kind);
    EXPECT_EQ(loaded->encode("the dog"), tokenizer->encode("the dog"));
    EXPECT_NE(loaded->fingerprint(), with_mask(kind, false)->fingerprint());
  }
  const auto words =
      train_tokenizer({.kind = TokenizerKind::kWord, .lowercase = true, .mask = true},
                      std::vector<std::string>{"a"});
  EXPECT_EQ(words->serialized(),
            "attend tokenizer 1 word lowercase mask 5\n<unk>\n<s>\n</s>\n<mask>\na\n");
}

TEST(TokenizerMask, LabelsHaveNone) {
  const auto labels = train_tokenizer({.kind = TokenizerKind::kLine, .mask = true},
                                      std::vector<std::string>{"good", "bad"});
  EXPECT_EQ(labels->special().mask, -1);
  EXPECT_EQ(labels->first_piece(), kSpecialTokens);
}

TEST(TokenizerMask, NeedsRoom) {
  const std::vector<std::string> lines = {"a"};
  for (const TokenizerKind kind : {TokenizerKind::kWord, TokenizerKind::kBpe}) {
    EXPECT_THROW(train_tokenizer({.kind = kind, .vocabulary = 4, .mask = true}, lines),
                 ConfigError);
  }
}

}  // namespace
}  // namespace attend
