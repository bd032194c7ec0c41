#include "attend/text/text_stream.h"

#include <gtest/gtest.h>

#include "attend/base/rng.h"
#include "attend/base/utf8.h"

namespace attend {
namespace {

std::string repaired(std::string_view text) {
  size_t replaced = 0;
  return repair_utf8(text, replaced);
}

// Every piece is whole characters, and all of them are what decoding everything gives.
void expect_streams(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, size_t before) {
  const auto first = std::span(ids).first(before);
  TextStream stream(tokenizer, first);
  std::string text = repaired(tokenizer.decode(first));
  for (const int32_t id : std::span(ids).subspan(before)) {
    const std::string more = stream.add(id);
    EXPECT_TRUE(valid_utf8(more));
    text += more;
  }
  const std::string rest = stream.finish();
  EXPECT_TRUE(valid_utf8(rest));
  EXPECT_EQ(text + rest, repaired(tokenizer.decode(ids))) << before;
  EXPECT_EQ(stream.finish(), "");
}

std::vector<std::shared_ptr<const Tokenizer>> tokenizers() {
  const std::vector<std::string> lines = {"der Käse kostet 3 €", "ein kleines  Haus",
                                          "naïve 日本語"};
  std::vector<std::shared_ptr<const Tokenizer>> made;
  for (const TokenizerKind kind : {TokenizerKind::kByte, TokenizerKind::kCharacter,
                                   TokenizerKind::kWord, TokenizerKind::kLine}) {
    made.push_back(train_tokenizer({.kind = kind, .vocabulary = 0}, lines));
  }
  for (const TokenizerKind kind : {TokenizerKind::kBpe, TokenizerKind::kUnigram}) {
    made.push_back(train_tokenizer({.kind = kind, .vocabulary = 50}, lines));
    made.push_back(
        train_tokenizer({.kind = kind, .vocabulary = 320, .byte_fallback = true}, lines));
  }
  made.push_back(train_tokenizer({.kind = TokenizerKind::kWordpiece, .vocabulary = 80}, lines));
  made.push_back(train_tokenizer({.kind = TokenizerKind::kByteBpe, .vocabulary = 270}, lines));
  return made;
}

TEST(TextStream, GivesTheTextThatDecodingGives) {
  for (const auto& tokenizer : tokenizers()) {
    SCOPED_TRACE(name_of(tokenizer->kind()));
    for (const char* text :
         {"ein kleines Haus", "der Käse kostet 3 € ein", "naïve 日本語 €", "☃ ein ☃☃", "x  y"}) {
      const std::vector<int32_t> ids = tokenizer->encode(text);
      expect_streams(*tokenizer, ids, 0);
      expect_streams(*tokenizer, ids, ids.size() / 2);
    }
  }
}

// Ids that no text has: bytes that are no characters, spaces anywhere, special ids.
TEST(TextStream, GivesTheTextOfAnyIds) {
  for (const auto& tokenizer : tokenizers()) {
    SCOPED_TRACE(name_of(tokenizer->kind()));
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const RandomStream random(7, seed);
      std::vector<int32_t> ids(1 + random.below(0, 30));
      for (size_t i = 0; i < ids.size(); ++i) {
        ids[i] = static_cast<int32_t>(random.below(i + 1, tokenizer->size()));
      }
      expect_streams(*tokenizer, ids, 0);
    }
  }
}

TEST(TextStream, HoldsBytesBackUntilTheyAreACharacter) {
  const auto tokenizer =
      train_tokenizer({.kind = TokenizerKind::kByte}, std::vector<std::string>{});
  const std::vector<int32_t> ids = tokenizer->encode("a€b");
  TextStream stream(*tokenizer);
  EXPECT_EQ(stream.add(ids[0]), "a");
  EXPECT_EQ(stream.add(ids[1]), "");
  EXPECT_EQ(stream.add(ids[2]), "");
  TextStream cut = stream;
  EXPECT_EQ(stream.add(ids[3]), "€");
  EXPECT_EQ(stream.add(ids[4]), "b");
  EXPECT_EQ(cut.add(ids[4]),
            "\xEF\xBF\xBD"
            "b");  // they never became one
}

TEST(TextStream, WritesTheSpaceBeforeAWordThatFollowsAnother) {
  const std::vector<std::string> lines = {"ein kleines Haus", "ein Haus", "Haus"};
  const auto tokenizer = train_tokenizer({.kind = TokenizerKind::kBpe, .vocabulary = 40}, lines);
  const std::vector<int32_t> ein = tokenizer->encode("ein"), house = tokenizer->encode("Haus");
  const auto text_of = [&](TextStream stream) {
    std::string text;
    for (const int32_t id : house) text += stream.add(id);
    return text + stream.finish();
  };
  EXPECT_EQ(text_of(TextStream(*tokenizer, ein)), " Haus");
  EXPECT_EQ(text_of(TextStream(*tokenizer)), "Haus");
}

}  // namespace
}  // namespace attend
