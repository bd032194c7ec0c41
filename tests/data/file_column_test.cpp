// A column of a file: FILE:2 and FILE:NAME, wherever lines are read.
#include <set>

#include "attend/base/error.h"
#include "attend/data/corpus_build.h"
#include "attend/data/documents.h"
#include "attend/data/records.h"
#include "tests/data/files.h"

namespace attend {
namespace {

class FileColumns : public DataFiles {
 protected:
  using ColumnLines = std::vector<std::string>;

  static ColumnLines read(const Path& path, LineEnds ends = LineEnds::kRemoved) {
    LineReader reader(path, kLongestLine, LongLines::kPassOver, ends);
    ColumnLines lines;
    while (reader.next()) lines.emplace_back(reader.line());
    return lines;
  }
};

TEST_F(FileColumns, AreNamedByAPlaceOrAName) {
  const auto of = [](const Path& path) {
    const FileColumn column = file_column(path);
    return std::tuple(column.file.string(), column.place, column.name);
  };
  using Column = std::tuple<std::string, size_t, std::string>;
  EXPECT_EQ(of("a.tsv:2"), Column("a.tsv", 2, ""));
  EXPECT_EQ(of("a.tsv:text"), Column("a.tsv", 0, "text"));
  EXPECT_EQ(of("a.tsv:2nd"), Column("a.tsv", 0, "2nd"));
  EXPECT_EQ(of("a:b:c d"), Column("a:b", 0, "c d"));
  EXPECT_EQ(of("-:3"), Column("-", 3, ""));
  EXPECT_EQ(of("a.tsv:0"), Column("a.tsv", 0, "0"));
  EXPECT_EQ(of("a.tsv:-1"), Column("a.tsv", 0, "-1"));
  for (const char* whole : {"a.tsv", "-", ":2", "a.tsv:", "data:1/a.tsv"}) {
    EXPECT_EQ(of(whole), Column(whole, 0, ""));
  }
  const Path file = write("a:2", "x\ty\n");
  EXPECT_EQ(of(file), Column(file.string(), 0, ""));
  EXPECT_EQ(read(file), (ColumnLines{"x\ty"}));
}

TEST_F(FileColumns, AreReadLineByLine) {
  const Path file =
      write("a.tsv", "\xEF\xBB\xBFtext\tlabel\r\none\t1\r\n\r\ntwo words\t2\textra\n");
  EXPECT_EQ(read(file.string() + ":1"), (ColumnLines{"text", "one", "", "two words"}));
  EXPECT_EQ(read(file.string() + ":2"), (ColumnLines{"label", "1", "", "2"}));
  EXPECT_EQ(read(file.string() + ":text"), (ColumnLines{"one", "", "two words"}));
  EXPECT_EQ(read(file.string() + ":label"), (ColumnLines{"1", "", "2"}));
  const Path packed = write("a.tsv.gz", gzip("a\tb\nc\td\n"));
  EXPECT_EQ(read(packed.string() + ":b"), (ColumnLines{"d"}));
  EXPECT_EQ(read(packed.string() + ":2"), (ColumnLines{"b", "d"}));
}

// A document joins lines: each must end as in the file, whichever column it is.
TEST_F(FileColumns, KeepTheEndsOfTheirLines) {
  const Path file = write("a.tsv", "text\tlabel\none\t1\r\n\ntwo\t2");
  EXPECT_EQ(read(file.string() + ":text", LineEnds::kKept), (ColumnLines{"one\r\n", "\n", "two"}));
  EXPECT_EQ(read(file.string() + ":label", LineEnds::kKept), (ColumnLines{"1\r\n", "\n", "2"}));
  DocumentReader documents({{file.string() + ":text"}});
  std::string text;
  while (documents.next()) text += documents.text();
  EXPECT_EQ(text, "one\r\n\ntwo");
}

TEST_F(FileColumns, ThatAreMissingAreNamed) {
  const Path file = write("a.tsv", "text\tlabel\none\t1\ntwo\n");
  expect_error<DataError>([&] { read(file.string() + ":stars"); },
                          "it has no column 'stars'; its first line names: text, label");
  expect_error<DataError>([&] { read(file.string() + ":2"); },
                          "a.tsv:3: it has 1 column, but column 2 is needed");
  expect_error<DataError>([&] { read(file.string() + ":label"); }, "a.tsv:3: it has 1 column");
  expect_error<DataError>([&] { read(write("empty", "").string() + ":text"); },
                          "it has no column 'text'");
  expect_error<IoError>([&] { read(directory_ / "none.tsv:2"); }, "none.tsv");
}

TEST_F(FileColumns, OfOneFileAreRecords) {
  const Path file = write("a.tsv", "text\tlabel\none\t1\n\ntwo\t2\n"),
             other = write("b", "x\ny\nz\n");
  RecordReader reader(
      {{"text", file.string() + ":text"}, {"other", other}, {"label", file.string() + ":label"}});
  ColumnLines all;
  while (reader.next()) {
    all.push_back(fmt::format("{} {} {}", reader.text(0), reader.text(1), reader.text(2)));
  }
  EXPECT_EQ(all, (ColumnLines{"one x 1", "two z 2"}));
  EXPECT_EQ(reader.counts().empty, 1u);
}

// The line of names is no line of the text.
TEST_F(FileColumns, UnequalFilesAreComparedByLinesOfText) {
  const Path file = write("a.tsv", "text\none\ntwo\n"), other = write("b", "x\ny\nz\n");
  RecordReader reader({{"text", file.string() + ":text"}, {"other", other}});
  expect_error<DataError>(
      [&] {
        while (reader.next()) continue;
      },
      "a.tsv has 2 lines but ");
}

TEST_F(FileColumns, StandardInputIsReadOnce) {
  for (const auto& [first, second] : {std::pair("-:1", "-:2"), {"-", "-:2"}, {"-", "-"}}) {
    expect_error<ConfigError>(
        [&, a = first, b = second] {
          RecordReader({{"text", a}, {"label", b}});
        },
        "standard input cannot be label as well");
  }
}

TEST_F(FileColumns, AreDifferentTexts) {
  const std::string file = write("a.tsv", "text\tlabel\none\t1\n").string();
  std::set<uint64_t> all;
  for (const char* column : {"", ":1", ":2", ":text", ":label"}) {
    all.insert(fingerprint_of_file(file + column));
  }
  EXPECT_EQ(all.size(), 5u);
  expect_error<ConfigError>([] { fingerprint_of_file("-:2"); }, "cannot be read twice");
}

}  // namespace
}  // namespace attend
