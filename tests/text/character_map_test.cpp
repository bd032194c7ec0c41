#include "attend/text/character_map.h"

#include <gtest/gtest.h>

#include "attend/text/tokenizer.h"
#include "tests/errors.h"
#include "tests/hostile/sentencepiece_model.h"

namespace attend {
namespace {

using hostile::bytes_field;
using hostile::CharacterMapMaker;
using hostile::piece;
using hostile::unigram_model;

constexpr uint32_t kRoot = CharacterMapMaker::kRoot;

// Reads `key` as `text`.
std::string map_of(std::string_view key, const std::string& text) {
  CharacterMapMaker maker;
  uint32_t node = kRoot;
  for (size_t i = 0; i < key.size(); ++i) {
    const auto label = static_cast<unsigned char>(key[i]);
    const uint32_t next = maker.link(node, label);
    if (i + 1 == key.size()) maker.end(node, label, next, 0);
    node = next;
  }
  return maker.map(text + '\0');
}

// What SentencePiece makes of the map, which is how these tests know that they speak its language.
std::vector<std::string> pieces_with(const std::string& map, const std::string& line) {
  const std::string model =
      unigram_model(piece("▁") + piece("x") + piece("y"), bytes_field(2, map));
  return parse_tokenizer(model, "spm.model")->pieces(line);
}

TEST(CharacterMap, IsFollowedAsSentencePieceFollowsIt) {
  EXPECT_EQ(pieces_with(map_of("ab", "xyx"), "ab"), (std::vector<std::string>{"▁", "x", "y", "x"}));
  EXPECT_EQ(pieces_with(map_of("ß", "x"), "ßy"), (std::vector<std::string>{"▁", "x", "y"}));
}

TEST(CharacterMap, TextGrowsAtMostSixteenfold) {
  constexpr std::string_view kGrows = "its character map makes a text grow without bound";
  EXPECT_EQ(character_map_fault(map_of("a", std::string(16, 'x'))), "");
  EXPECT_EQ(character_map_fault(map_of("a", std::string(17, 'x'))), kGrows);
  EXPECT_EQ(character_map_fault(map_of("abc", std::string(48, 'x'))), "");
  EXPECT_EQ(character_map_fault(map_of("abc", std::string(49, 'x'))), kGrows);
  EXPECT_EQ(character_map_fault(map_of("a", std::string(5, ' '))), "");  // each becomes three bytes
  EXPECT_EQ(character_map_fault(map_of("a", std::string(6, ' '))), kGrows);
}

// A leaf that two keys share counts for the shorter one.
TEST(CharacterMap, TheShortestWayToATextCounts) {
  CharacterMapMaker maker;
  const uint32_t a = maker.link(kRoot, 'a'), end = maker.link(a, 'b');
  maker.end(a, 'b', end, 0);
  EXPECT_EQ(character_map_fault(maker.map(std::string(32, 'x') + '\0')), "");
  maker.link(kRoot, 'c', end);
  maker.end(kRoot, 'c', end, 0);
  EXPECT_NE(character_map_fault(maker.map(std::string(32, 'x') + '\0')), "");
}

// SentencePiece has room for 32 matches at a place, and reads what lies behind where there are
// more.
TEST(CharacterMap, KeysWithinKeysAreFew) {
  for (const int depth : {32, 33}) {
    CharacterMapMaker maker;
    uint32_t node = kRoot;
    for (int i = 0; i < depth; ++i) {
      const uint32_t next = maker.link(node, 'a');
      maker.end(node, 'a', next, 0);
      node = next;
    }
    EXPECT_EQ(character_map_fault(maker.map(std::string_view("x\0", 2))),
              depth == 32 ? "" : "the character map has no end");
  }
}

TEST(CharacterMap, CirclesAreRefused) {
  CharacterMapMaker maker;
  const uint32_t a = maker.link(kRoot, 'a');
  maker.link(a, 'b', kRoot);
  EXPECT_EQ(character_map_fault(maker.map(std::string_view("x\0", 2))),
            "the character map has no end");
}

// The maps that SentencePiece itself makes, and that Attend makes for lower case.
TEST(CharacterMap, TrainedModelsPass) {
  const std::vector<std::string> lines = {"Die Straße ﷺ ﬁn", "ein Haus, zwei Häuser"};
  for (const bool lowercase : {false, true}) {
    const auto trained = train_tokenizer(
        {.kind = TokenizerKind::kUnigram, .vocabulary = 40, .lowercase = lowercase}, lines);
    const auto read = parse_tokenizer(trained->serialized(), "spm.model");
    EXPECT_EQ(read->encode(lines[0]), trained->encode(lines[0]));
  }
}

TEST(CharacterMap, SymbolsWithinSymbolsAreFew) {
  const auto model = [](size_t count) {
    std::string pieces = piece("b");
    for (size_t i = 1; i <= count; ++i)
      pieces += piece(std::string(i, 'a'), 0, hostile::kUserDefined);
    return unigram_model(pieces);
  };
  const auto tokenizer = parse_tokenizer(model(64), "spm.model");
  EXPECT_EQ(tokenizer->encode(std::string(64, 'a')).size(), 2u);  // the space before it, and all
  expect_error<FormatError>([&] { parse_tokenizer(model(65), "spm.model"); },
                            "too many of its symbols begin with one another");
}

// The library would print what it finds, as it is, to standard error.
TEST(CharacterMap, SelfTestsAreLeftOut) {
  const std::string plain = unigram_model(piece("a"));
  const std::string sample = bytes_field(1, "a") + bytes_field(2, "\x1b[2J");
  const std::string tested = plain + bytes_field(4, bytes_field(1, sample));
  testing::internal::CaptureStderr();
  const auto tokenizer = parse_tokenizer(tested, "spm.model");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(tokenizer->encode("a"), parse_tokenizer(plain, "spm.model")->encode("a"));
  EXPECT_EQ(tokenizer->serialized(), tested);
}

// NUL ends text in one part of the library and not in another.
TEST(CharacterMap, NulIsNoText) {
  const auto tokenizer = parse_tokenizer(unigram_model(piece("a") + piece("b")), "spm.model");
  EXPECT_EQ(tokenizer->encode(std::string_view("a\0b", 3)), tokenizer->encode("ab"));
  EXPECT_EQ(tokenizer->pieces(std::string_view("a\0b", 3)), tokenizer->pieces("ab"));
}

}  // namespace
}  // namespace attend
