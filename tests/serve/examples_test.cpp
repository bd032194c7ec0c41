// Inputs on offer come from the corpora of a model directory, and never fail.
#include "attend/serve/examples.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "attend/base/files.h"
#include "attend/data/line_records.h"
#include "attend/data/windows.h"
#include "attend/models/text_model.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using Examples = std::vector<ExampleInput>;

class ExampleInputs : public ::testing::Test {
 protected:
  // Pairs, each of a text and itself.
  void write(const char* name, const TextModel& model, const std::string& lines) {
    const fs::path text = directory_.root / "text";
    replace_file(text, lines);
    std::vector<LineColumn> columns;
    for (const char* column : {"source", "target"}) {
      columns.push_back({.text = {.name = column, .file = text},
                         .encoder = encoder_of(model.tokenizers.at(column))});
    }
    build_corpus(LineRecords(std::move(columns)), directory_.root / name);
  }

  Examples examples() const { return example_inputs(directory_, model_); }

  TemporaryDirectory temporary_;
  ModelDirectory directory_{temporary_.path()};
  TextModel model_ = small_transformer_model();
};

TEST_F(ExampleInputs, AreOfValidationElseOfTraining) {
  EXPECT_EQ(examples(), Examples());
  write("train.corpus", model_, "abc\n");
  EXPECT_EQ(examples(), (Examples{{"abc"}}));
  write("valid.corpus", model_, "fed\n");
  EXPECT_EQ(examples(), (Examples{{"fed"}}));
}

TEST_F(ExampleInputs, AreFewAndDiffer) {
  write("valid.corpus", model_, "a\nb\na\nc\nd\ne\nf\ng\nh\n");
  EXPECT_EQ(examples(), (Examples{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"f"}}));
}

TEST_F(ExampleInputs, AreTextThatTheModelKnows) {
  write("valid.corpus", model_, "aXb\nabc\n");
  EXPECT_EQ(examples(), (Examples{{"abc"}}));
}

TEST_F(ExampleInputs, AreCutBetweenWordsWhereAllAreLong) {
  std::string words;
  for (int i = 0; i < 40; ++i) words += "abcdefg ";
  write("valid.corpus", model_, words + "\n");
  const Examples cut = examples();
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_TRUE(cut[0][0].ends_with("abcdefg"));
  EXPECT_LE(cut[0][0].size(), 90u);
  write("valid.corpus", model_, words + "\nabc\n");
  EXPECT_EQ(examples(), (Examples{{"abc"}}));
}

TEST_F(ExampleInputs, OfALanguageModelAreBeginnings) {
  const TextModel writer = small_language_model();
  const fs::path text = directory_.root / "text";
  replace_file(text, "abc def gh ij ab cd ef gh ij ab cd\nhg fe\n");
  const WindowRecords windows("text", {.files = {text}, .documents = DocumentKind::kLine},
                              encoder_of(writer.tokenizers.at("text")), {.context = 64});
  build_corpus(windows, directory_.root / "valid.corpus");
  EXPECT_EQ(example_inputs(directory_, writer),
            (Examples{{"abc def gh ij ab cd ef gh ij"}, {"hg fe"}}));
}

TEST_F(ExampleInputs, OfOtherTokenizersAreNone) {
  write("valid.corpus", small_text_model(TokenizerKind::kByte, letters()), "abc\n");
  EXPECT_EQ(examples(), Examples());
}

TEST_F(ExampleInputs, OfADamagedFileAreNone) {
  write("valid.corpus", model_, "abc\n");
  const std::string whole = file_contents(directory_.root / "valid.corpus");
  for (size_t size = 0; size < whole.size(); size += 7) {
    replace_file(directory_.root / "valid.corpus", whole.substr(0, size));
    EXPECT_EQ(examples(), Examples()) << size;
  }
}

// Opening a pipe would wait for a writer.
TEST_F(ExampleInputs, OfWhatIsNoFileAreNone) {
  ASSERT_EQ(mkfifo((directory_.root / "valid.corpus").c_str(), 0600), 0);
  fs::create_directory(directory_.root / "train.corpus");
  EXPECT_EQ(examples(), Examples());
}

// Only the file's size is large.
TEST_F(ExampleInputs, OfAHugeFileAreNone) {
  write("valid.corpus", model_, "abc\n");
  fs::resize_file(directory_.root / "valid.corpus", uintmax_t{1} << 40);
  EXPECT_EQ(examples(), Examples());
}

TEST_F(ExampleInputs, DoNotComeFromFilesThatTheSettingsName) {
  replace_file(directory_.root / "secret", "abc\n");
  replace_file(directory_.training(),
               "data: {valid_source: " + (directory_.root / "secret").string() + "}\n");
  EXPECT_EQ(examples(), Examples());
}

}  // namespace
}  // namespace attend
