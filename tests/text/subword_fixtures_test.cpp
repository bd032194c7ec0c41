// WordPiece and byte-level BPE, to the id: tiny vocabularies and what `tokenizers` makes of texts
// with them (tests/fixtures/make_subwords.py), and, where the data is (ATTEND_DATA/tokenizers), the
// vectors of BERT uncased and GPT-2, which are not part of this project.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "attend/base/files.h"
#include "attend/data/lines.h"
#include "attend/text/import.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

const fs::path kSubwords = fs::path(ATTEND_FIXTURES) / "subwords";

ImportedFile fixture(const std::string& name) { return {name, file_contents(kSubwords / name)}; }

std::vector<std::string> split(std::string_view text, std::string_view by) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(by);
    parts.emplace_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + by.size());
  }
}

// Also .gz.
std::string unpacked(const fs::path& file) {
  LineReader reader(file);
  std::string text;
  while (reader.next()) text += std::string(reader.line()) + "\n";
  return text;
}

std::string unescaped_text(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      text += line[i];
      continue;
    }
    const char escape = line[++i];
    if (escape == 'x') {
      text += static_cast<char>(std::stoi(std::string(line.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      text += escape == 'n' ? '\n' : escape == 'r' ? '\r' : escape == 't' ? '\t' : '\\';
    }
  }
  return text;
}

void expect_ids(const Tokenizer& tokenizer, const std::string& file) {
  const auto texts = split(file_contents(kSubwords / "texts.txt"), "\n");
  const auto ids = split(file_contents(kSubwords / file), "\n");
  ASSERT_EQ(texts.size(), ids.size());
  ASSERT_GT(texts.size(), 60u);
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string text = unescaped_text(texts[i]);
    EXPECT_EQ(fmt::format("{}", fmt::join(tokenizer.encode(text), " ")), ids[i]) << texts[i];
    EXPECT_EQ(tokenizer.pieces(text).size(), tokenizer.encode(text).size()) << texts[i];
  }
}

TEST(SubwordFixtures, WordpieceGivesTheIdsOfTheReference) {
  expect_ids(*import_wordpiece(fixture("vocab_uncased.txt"), {}), "uncased.txt");
  expect_ids(*import_wordpiece(fixture("vocab_cased.txt"), {}), "cased.txt");
}

TEST(SubwordFixtures, ByteBpeGivesTheIdsOfTheReference) {
  const auto tokenizer = import_byte_bpe(fixture("encoder.json"), fixture("vocab.bpe"), false);
  expect_ids(*tokenizer, "bytes.txt");
  for (const std::string& line : split(file_contents(kSubwords / "texts.txt"), "\n")) {
    const std::string text = unescaped_text(line);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

// The texts of vectors.inp have a line between them; vectors.out has a line of ids for each.
void expect_vectors(const Tokenizer& tokenizer, const fs::path& folder) {
  const auto texts = split(file_contents(folder / "vectors.inp"), "\n__ggml_vocab_test__\n");
  const auto ids = split(file_contents(folder / "vectors.out"), "\n");
  ASSERT_GT(texts.size(), 40u);
  ASSERT_GE(ids.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string expected = ids[i];
    expected.erase(0, expected.find_first_not_of(' '));
    EXPECT_EQ(fmt::format("{}", fmt::join(tokenizer.encode(texts[i]), " ")), expected) << texts[i];
  }
}

fs::path tokenizer_data() {
  const char* data = std::getenv("ATTEND_DATA");
  return data == nullptr ? fs::path() : fs::path(data) / "tokenizers";
}

TEST(SubwordFixtures, BertUncasedToTheId) {
  const fs::path folder = tokenizer_data() / "bert";
  if (!fs::exists(folder / "vocab.txt.gz")) {
    GTEST_SKIP() << "set ATTEND_DATA to a directory with tokenizers/bert/vocab.txt.gz";
  }
  const auto tokenizer = import_wordpiece({"vocab.txt", unpacked(folder / "vocab.txt.gz")}, {});
  EXPECT_EQ(tokenizer->special(), (SpecialTokens{100, 101, 102, 103}));
  EXPECT_EQ(tokenizer->first_piece(), 999);
  expect_vectors(*tokenizer, folder);
}

TEST(SubwordFixtures, Gpt2ToTheId) {
  const fs::path folder = tokenizer_data() / "gpt2";
  if (!fs::exists(folder / "encoder.json.gz")) {
    GTEST_SKIP() << "set ATTEND_DATA to a directory with tokenizers/gpt2/encoder.json.gz";
  }
  // One line of a megabyte.
  LineReader json(folder / "encoder.json.gz", kMostImportedBytes);
  ASSERT_TRUE(json.next());
  const auto tokenizer = import_byte_bpe({"encoder.json", std::string(json.line())},
                                         {"vocab.bpe", unpacked(folder / "vocab.bpe.gz")}, false);
  EXPECT_EQ(tokenizer->special(), (SpecialTokens{-1, 50256, 50256, -1}));
  EXPECT_EQ(tokenizer->first_piece(), 0);
  expect_vectors(*tokenizer, folder);
}

}  // namespace
}  // namespace attend
