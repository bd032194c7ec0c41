// What a person sees of tokens, also of unknown ones.
#include <gtest/gtest.h>

#include "attend/text/tokenizer.h"
#include "tests/errors.h"

namespace attend {
namespace {

constexpr TokenizerKind kPieceKinds[] = {TokenizerKind::kCharacter, TokenizerKind::kWord,
                                         TokenizerKind::kLine,      TokenizerKind::kByte,
                                         TokenizerKind::kBpe,       TokenizerKind::kUnigram};

std::shared_ptr<const Tokenizer> trained_on_pieces(TokenizerKind kind) {
  const std::vector<std::string> lines = {"the dog", "a dog there", "the other dog", "that one"};
  return train_tokenizer({.kind = kind, .vocabulary = 30}, lines);
}

TEST(TokenizerPieces, PiecesOfALineAreThoseOfItsIds) {
  for (const TokenizerKind kind : kPieceKinds) {
    const auto tokenizer = trained_on_pieces(kind);
    for (const char* line : {"the dog", "", " the  dog ", "the d\xffg", "dogß the"}) {
      const std::vector<int32_t> ids = tokenizer->encode(line);
      const std::vector<std::string> pieces = tokenizer->pieces(line);
      ASSERT_EQ(pieces.size(), ids.size()) << name_of(kind) << " " << line;
      for (size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] == kUnknown) {
          EXPECT_TRUE(pieces[i].starts_with("<unk:")) << name_of(kind) << " " << pieces[i];
        } else {
          EXPECT_EQ(pieces[i], tokenizer->piece(ids[i])) << name_of(kind);
        }
      }
    }
  }
}

TEST(TokenizerPieces, UnknownPiecesSayWhatTheyStandFor) {
  const std::vector<std::string> lines = {"a b", "b a"};
  const auto pieces = [&](TokenizerKind kind, const char* line) {
    return train_tokenizer({.kind = kind, .vocabulary = 0}, lines)->pieces(line);
  };
  EXPECT_EQ(pieces(TokenizerKind::kCharacter, "aß b"),
            (std::vector<std::string>{"a", "<unk:ß>", "▁", "b"}));
  EXPECT_EQ(pieces(TokenizerKind::kWord, "a Haus b"),
            (std::vector<std::string>{"a", "<unk:Haus>", "b"}));
  EXPECT_EQ(pieces(TokenizerKind::kLine, "b  b"), std::vector<std::string>{"<unk:b▁▁b>"});
  const auto subwords = train_tokenizer({.kind = TokenizerKind::kBpe, .vocabulary = 9}, lines);
  EXPECT_EQ(subwords->pieces("a ß").back(), "<unk:ß>");
}

TEST(TokenizerPieces, BytesThatCanBePrintedAreShownAsTheyAre) {
  const auto tokenizer = trained_on_pieces(TokenizerKind::kByte);
  EXPECT_EQ(tokenizer->pieces("a ~\t\x7f"),
            (std::vector<std::string>{"a", "▁", "~", "<0x09>", "<0x7F>"}));
}

TEST(TokenizerPieces, TooSmallAVocabularySaysHowLargeItMustBe) {
  const std::vector<std::string> lines = {"abc def", "ghi jkl"};
  for (const TokenizerKind kind : {TokenizerKind::kBpe, TokenizerKind::kUnigram}) {
    const std::string message =
        message_of<ConfigError>([&] { train_tokenizer({.kind = kind, .vocabulary = 5}, lines); });
    EXPECT_NE(message.find("set the vocabulary to 16 or more (attend train: "
                           "--vocabulary.vocabulary)"),
              std::string::npos)
        << message;
    EXPECT_EQ(message.find(".cc"), std::string::npos) << message;
    EXPECT_EQ(train_tokenizer({.kind = kind, .vocabulary = 16}, lines)->size(), 16u);
  }
}

}  // namespace
}  // namespace attend
