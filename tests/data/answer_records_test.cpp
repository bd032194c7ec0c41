// Records of texts with tags for their words, or with numbers.
#include <bit>

#include "attend/base/error.h"
#include "attend/data/line_records.h"
#include "attend/data/words.h"
#include "tests/data/encoders.h"
#include "tests/data/files.h"

namespace attend {
namespace {

// A tag is its first byte.
TextEncoder tag_encoder() {
  return {[](std::string_view line) {
            std::vector<int32_t> tags;
            for (const auto word : words_of(line)) tags.push_back(word.front());
            return tags;
          },
          256, 2};
}

std::vector<int32_t> ids_of(const Column& column) {
  const auto ids = column.values.index_span();
  return {ids.begin(), ids.end()};
}

class AnswerRecords : public DataFiles {
 protected:
  Corpus tagged(const std::string& text, const std::string& tags, size_t longest = 20) const {
    return open_corpus(LineRecords({{.text = {"text", write("text", text)},
                                     .encoder = byte_encoder(),
                                     .longest = longest,
                                     .by_words = true},
                                    {.text = {"tags", write("tags", tags)},
                                     .encoder = tag_encoder(),
                                     .kind = ColumnKind::kLabels}}),
                       directory_ / "corpus");
  }
  Corpus measured(const std::string& text, const std::string& numbers) const {
    return open_corpus(
        LineRecords({{.text = {"text", write("text", text)}, .encoder = byte_encoder()},
                     {.text = {"number", write("numbers", numbers)},
                      .encoder = {},
                      .kind = ColumnKind::kNumber}}),
        directory_ / "corpus");
  }
};

TEST_F(AnswerRecords, ATagBelongsToEachWord) {
  const Corpus corpus = tagged("ab  c\nd\n\n", "X Y\nZ\n\n");
  const std::vector<uint32_t> both = {0, 1};
  const Batch batch = make_batch(corpus, both);
  EXPECT_EQ(batch.tokens("text").packing, Packing::of({4, 1}));  // "ab", " c"; "d"
  EXPECT_EQ(batch.tokens("tags").packing, Packing::of({2, 1}));
  EXPECT_EQ(ids_of(batch["tags"]), (std::vector<int32_t>{'X', 'Y', 'Z'}));
  EXPECT_EQ(ids_of(batch["text.words"]), (std::vector<int32_t>{1, 3, 0}));
  EXPECT_EQ(corpus.counts().left_out_empty(), 1u);
}

TEST_F(AnswerRecords, TagsOfOtherWordsAreNamed) {
  expect_error<DataError>([&] { tagged("a b\nc d e\n", "X Y\nX Y\n"); },
                          "tags:2: 2 tags, but the text has 3 words; give one for each word");
  expect_error<DataError>([&] { tagged("a\n", "X Y\n"); },
                          "tags:1: 2 tags, but the text has 1 word");
}

TEST_F(AnswerRecords, AWordWithoutTokensKeepsItsTag) {
  const Corpus corpus = tagged("_ b\n", "X Y\n");  // the encoder gives nothing for "_"
  const std::vector<uint32_t> first = {0};
  const Batch batch = make_batch(corpus, first);
  EXPECT_EQ(ids_of(batch["text"]), (std::vector<int32_t>{SpecialTokens().unknown, ' ', 'b'}));
  EXPECT_EQ(ids_of(batch["text.words"]), (std::vector<int32_t>{0, 2}));
}

TEST_F(AnswerRecords, NumbersAreStoredAsTheyAre) {
  const Corpus corpus = measured("a\nb\nc\n", "1.5\n-2e3\n16777216\n");
  const std::vector<uint32_t> all = {2, 0, 1};
  const Batch batch = make_batch(corpus, all);
  EXPECT_EQ(batch["number"].values.to_vector(), (std::vector<float>{16777216.0f, 1.5f, -2000.0f}));
  EXPECT_EQ(corpus.length(0, 1), 1u);
}

TEST_F(AnswerRecords, WhatIsNoNumberIsNamed) {
  for (const char* number : {"x", "nan", "inf", "0x1", "1e39", "1 2"}) {
    expect_error<DataError>([&] { measured("a\nb\n", fmt::format("1\n{}\n", number)); },
                            fmt::format("numbers:2: '{}' is not a number", number));
  }
}

// One of two files may begin with the names of its columns.
TEST_F(AnswerRecords, ErrorsNameTheLineOfTheirOwnFile) {
  const auto read = [&](const std::string& text, const std::string& number) {
    open_corpus(
        LineRecords({{.text = {"text", text}, .encoder = byte_encoder()},
                     {.text = {"number", number}, .encoder = {}, .kind = ColumnKind::kNumber}}),
        directory_ / "corpus");
  };
  const std::string text = write("text", "a\nb\n").string(),
                    named_text = write("a.tsv", "text\tid\na\t1\nb\t2\n").string(),
                    number = write("numbers", "1\nx\n").string(),
                    named_number = write("b.tsv", "id\tstars\n1\t1\n2\tx\n").string();
  expect_error<DataError>([&] { read(text, named_number + ":stars"); }, "b.tsv:3: 'x' is not");
  expect_error<DataError>([&] { read(named_text + ":text", number); }, "numbers:2: 'x' is not");
  expect_error<DataError>([&] { read(named_text + ":text", named_number + ":stars"); },
                          "b.tsv:3: 'x' is not");
}

TEST_F(AnswerRecords, ADamagedNumberIsRefused) {
  const float nan = std::bit_cast<float>(0x7fc00000);
  measured("a\n", "1\n");
  std::string bytes = file_contents(directory_ / "corpus");
  const float one = 1;
  const std::string was(reinterpret_cast<const char*>(&one), 4);
  const size_t at = bytes.find(was);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 4, reinterpret_cast<const char*>(&nan), 4);
  const Corpus corpus(write("damaged", bytes));
  const std::vector<uint32_t> first = {0};
  expect_error<FormatError>([&] { make_batch(corpus, first); }, "a number that is not finite");
}

}  // namespace
}  // namespace attend
