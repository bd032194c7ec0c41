// Sentinels: ids of their own that no text encodes to.
#include <gtest/gtest.h>

#include "attend/base/error.h"
#include "attend/text/tokenizer.h"
#include "tests/errors.h"

namespace attend {
namespace {

constexpr TokenizerKind kWithSentinels[] = {TokenizerKind::kCharacter, TokenizerKind::kWord,
                                            TokenizerKind::kByte,      TokenizerKind::kBpe,
                                            TokenizerKind::kUnigram,   TokenizerKind::kByteBpe};

std::shared_ptr<const Tokenizer> sentinel_tokenizer(TokenizerKind kind, size_t sentinels,
                                                    bool mask) {
  std::vector<std::string> lines = {"the dog läuft", "a <extra_id_0> b", "<extra_id_1>"};
  for (int i = 0; i < 50; ++i) lines.push_back("the dog <extra_id_0> the dogs <extra_id_12>");
  const size_t vocabulary = kind == TokenizerKind::kByteBpe                                  ? 300
                            : kind == TokenizerKind::kBpe || kind == TokenizerKind::kUnigram ? 60
                                                                                             : 0;
  return train_tokenizer(
      {.kind = kind, .vocabulary = vocabulary, .mask = mask, .sentinels = sentinels}, lines);
}

TEST(TokenizerSentinels, FollowTheMaskAndStandForNoText) {
  for (const TokenizerKind kind : kWithSentinels) {
    for (const bool mask : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(kind), mask));
      const auto tokenizer = sentinel_tokenizer(kind, 13, mask);
      const SpecialTokens special = tokenizer->special();
      EXPECT_EQ(special.first_sentinel, mask ? 4 : 3);
      EXPECT_EQ(special.sentinels, 13);
      EXPECT_EQ(special.mask, mask ? 3 : -1);
      EXPECT_EQ(tokenizer->first_piece(), special.first_sentinel + 13);
      EXPECT_EQ(tokenizer->piece(special.first_sentinel + 12), "<extra_id_12>");
      EXPECT_TRUE(special.has(special.first_sentinel));
      EXPECT_TRUE(special.has(special.first_sentinel + 12));
      EXPECT_FALSE(special.has(special.first_sentinel + 13));
      for (const char* text : {"a <extra_id_0> b", "<extra_id_12>", "the dog<extra_id_1>"}) {
        const auto ids = tokenizer->encode(text);
        for (const int32_t id : ids) EXPECT_FALSE(special.is_sentinel(id)) << text;
        auto with = ids;
        with.insert(with.begin() + 1, special.first_sentinel + 2);
        EXPECT_EQ(tokenizer->decode(with), tokenizer->decode(ids));
      }
      const auto loaded = parse_tokenizer(tokenizer->serialized(), "file");
      EXPECT_EQ(loaded->special(), special);
      EXPECT_EQ(loaded->serialized(), tokenizer->serialized());
      EXPECT_EQ(loaded->encode("the dogs"), tokenizer->encode("the dogs"));
    }
    EXPECT_EQ(sentinel_tokenizer(kind, 0, false)->special().first_sentinel, -1);
  }
}

TEST(TokenizerSentinels, TheFileSaysHowMany) {
  const std::vector<std::string> lines = {"a"};
  const auto tokenizer =
      train_tokenizer({.kind = TokenizerKind::kWord, .vocabulary = 0, .sentinels = 2}, lines);
  EXPECT_EQ(tokenizer->serialized(),
            "attend tokenizer 1 word sentinels 2 6\n<unk>\n<s>\n</s>\n<extra_id_0>\n"
            "<extra_id_1>\na\n");
  for (const char* count : {"0", "1001", "x", "99999999999999999999", "3"}) {
    expect_error<FormatError>(
        [&] {
          parse_tokenizer(fmt::format("attend tokenizer 1 word sentinels {} 6\n<unk>\n<s>\n</s>\n"
                                      "<extra_id_0>\n<extra_id_1>\na\n",
                                      count),
                          "file");
        },
        "file:");
  }
}

TEST(TokenizerSentinels, WordpieceHasNoneAndLabelsNeither) {
  const std::vector<std::string> lines = {"the dog", "the cat"};
  expect_error<ConfigError>(
      [&] { train_tokenizer({.kind = TokenizerKind::kWordpiece, .sentinels = 1}, lines); },
      "wordpiece has no sentinels");
  EXPECT_EQ(train_tokenizer({.kind = TokenizerKind::kLine, .vocabulary = 0, .sentinels = 5}, lines)
                ->special()
                .sentinels,
            0);
}

}  // namespace
}  // namespace attend
