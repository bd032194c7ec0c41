// Files of tokenizers that got damaged: refused, or still a tokenizer that does no harm.
#include <gtest/gtest.h>

#include "attend/base/error.h"
#include "attend/text/tokenizer.h"
#include "tests/damage.h"

namespace attend {
namespace {

void expect_no_harm(TokenizerKind kind, int count) {
  const std::vector<std::string> lines = {"the dog läuft über die Straße", "a cat, a 猫, a 🐈",
                                          "the cat walked under the tree", "un été à la mer"};
  const size_t vocabulary = kind == TokenizerKind::kByteBpe     ? 300
                            : kind == TokenizerKind::kWordpiece ? 100
                                                                : 60;
  const auto tokenizer = train_tokenizer({.kind = kind, .vocabulary = vocabulary}, lines);
  const size_t refused =
      refusals<FormatError>(tokenizer->serialized(), count, [&](const std::string& bytes) {
        const auto read = parse_tokenizer(bytes, "damaged");
        for (const std::string& line : lines) {
          const std::vector<int32_t> ids = read->encode(line);
          for (const int32_t id : ids) {
            ASSERT_GE(id, 0);
            ASSERT_LT(static_cast<size_t>(id), read->size());
          }
          read->decode(ids);
        }
      });
  EXPECT_GT(refused, static_cast<size_t>(count) / 5) << name_of(kind);
}

TEST(TokenizerDamage, ListsOfPieces) {
  for (const TokenizerKind kind : {TokenizerKind::kCharacter, TokenizerKind::kWord,
                                   TokenizerKind::kLine, TokenizerKind::kByte}) {
    expect_no_harm(kind, 2000);
  }
}

TEST(TokenizerDamage, SubwordModels) {
  expect_no_harm(TokenizerKind::kBpe, 400);
  expect_no_harm(TokenizerKind::kUnigram, 400);
  expect_no_harm(TokenizerKind::kWordpiece, 1000);
  expect_no_harm(TokenizerKind::kByteBpe, 1000);
}

}  // namespace
}  // namespace attend
