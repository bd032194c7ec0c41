#include "attend/data/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "attend/base/error.h"
#include "tests/data/files.h"

namespace attend {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs_of(RecordReader& reader) {
  Pairs pairs;
  while (reader.next()) pairs.emplace_back(reader.text(0), reader.text(1));
  return pairs;
}

Pairs pairs_of(const std::vector<TextColumn>& columns) {
  RecordReader reader(columns);
  return pairs_of(reader);
}

std::vector<TextColumn> pair(const std::filesystem::path& source,
                             const std::filesystem::path& target = "") {
  return two_columns("source", "target", source, target);
}

class RecordReaderTest : public DataFiles {};

TEST_F(RecordReaderTest, LinesOfTwoFilesBelongTogether) {
  const auto source = write("a", "one\ntwo\n"), target = write("b.gz", gzip("eins\nzwei"));
  EXPECT_EQ(pairs_of(pair(source, target)), (Pairs{{"one", "eins"}, {"two", "zwei"}}));
}

TEST_F(RecordReaderTest, ColumnsOfOneFileBelongTogether) {
  const auto file = write("a.tsv", "one\teins\tun\ntwo\tzwei\tdeux\r\n\n");
  EXPECT_EQ(pairs_of(pair(file)), (Pairs{{"one", "eins"}, {"two", "zwei"}}));
  EXPECT_EQ(pairs_of({{"source", file, 3}, {"target", file, 1}}),
            (Pairs{{"un", "one"}, {"deux", "two"}}));
  EXPECT_EQ(pairs_of({{"source", file, 2}, {"target", write("b", "1\n2\n3\n")}}),
            (Pairs{{"eins", "1"}, {"zwei", "2"}}));
}

TEST_F(RecordReaderTest, AnyNumberOfFilesBelongTogether) {
  RecordReader reader(
      {{"a", write("a", "1\n2\n")}, {"b", write("b", "3\n4\n")}, {"c", write("c", "5\n6\n")}});
  ASSERT_TRUE(reader.next() && reader.next());
  EXPECT_EQ(reader.text(2), "6");
  EXPECT_FALSE(reader.next());
  RecordReader alone({{"a", write("d", "x\n\ny\n")}});
  ASSERT_TRUE(alone.next() && alone.next());
  EXPECT_EQ(alone.text(0), "y");
  EXPECT_EQ(alone.line(), 3u);
  EXPECT_THROW(RecordReader({}), ConfigError);
}

TEST_F(RecordReaderTest, RecordsWithAnEmptyColumnAreLeftOutAndCounted) {
  RecordReader reader(
      pair(write("a", "one\n\n \t\nfour\nfive\xFF\n"), write("b", "eins\nzwei\ndrei\n\r\nfünf\n")));
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), 1u);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.text(0), "five\uFFFD");
  EXPECT_EQ(reader.text(1), "fünf");
  EXPECT_EQ(reader.line(), 5u);
  EXPECT_FALSE(reader.next());
  const RecordCounts expected{
      .text = {.lines = 10, .invalid_utf8 = 1, .carriage_returns = 1}, .records = 2, .empty = 3};
  EXPECT_EQ(reader.counts(), expected);
}

TEST_F(RecordReaderTest, AColumnMayBeEmptyWhereThatIsSaid) {
  auto columns = pair(write("a", "one\n\nthree\n\n"), write("b", "1\n2\n\n\n"));
  columns[1].may_be_empty = true;
  RecordReader reader(columns);
  EXPECT_EQ(pairs_of(reader), (Pairs{{"one", "1"}, {"three", ""}}));
  EXPECT_EQ(reader.counts().empty, 2u);
  columns[0].may_be_empty = true;
  RecordReader both(columns);
  EXPECT_EQ(pairs_of(both), (Pairs{{"one", "1"}, {"", "2"}, {"three", ""}}));
  EXPECT_EQ(both.counts().empty, 1u);
}

TEST_F(RecordReaderTest, ALineOverTheLimitTakesItsPartnerWithIt) {
  RecordReader reader(pair(write("a", "1\n2\n3\n"), write("b", "a\nlonger than it may be\nc\n")),
                      10);
  EXPECT_EQ(pairs_of(reader), (Pairs{{"1", "a"}, {"3", "c"}}));
  EXPECT_EQ(reader.counts().too_long, 1u);
  EXPECT_EQ(reader.counts().empty, 0u);
}

TEST_F(RecordReaderTest, UnequalNumbersOfLinesAreRefusedWithBoth) {
  const auto five = write("five.txt", "1\n2\n3\n4\n5\n"), three = write("three.txt", "1\n2\n3");
  for (const auto& columns :
       {pair(five, three),
        pair(three, five),
        {{"a", five}, {"b", write("also five", "1\n2\n3\n4\n5\n")}, {"c", three}}}) {
    const std::string error = message_of<DataError>([&] {
      RecordReader reader(columns);
      while (reader.next()) continue;
    });
    EXPECT_NE(error.find("five.txt has 5"), error.npos) << error;
    EXPECT_NE(error.find("three.txt has 3"), error.npos) << error;
  }
}

TEST_F(RecordReaderTest, AMissingColumnIsRefusedWithItsLine) {
  const auto file = write("a.tsv", "one\teins\ntwo zwei\n");
  const std::string error = message_of<DataError>([&] { pairs_of(pair(file)); });
  EXPECT_NE(error.find("a.tsv:2: it has 1 column, but column 2 is needed"), error.npos) << error;
  EXPECT_THROW(pairs_of(pair("-", "-")), ConfigError);
}

// What is kept and what is held out are all records, each once, and records of one text stay
// together.
TEST_F(RecordReaderTest, SomeRecordsAreHeldOut) {
  std::string sources, targets;
  for (int i = 0; i < 400; ++i) {
    sources += fmt::format("s{}\n", i % 200);
    targets += fmt::format("t{}\n", i);
  }
  const auto columns = pair(write("a", sources), write("b", targets));
  RecordReader all(columns);
  Pairs parts[2];
  for (const TextPart part : {TextPart::kKept, TextPart::kHeldOut}) {
    RecordReader reader(columns, kLongestLine, {0.2, part});
    parts[part == TextPart::kHeldOut] = pairs_of(reader);
  }
  EXPECT_NEAR(static_cast<double>(parts[1].size()), 80, 25);
  std::set<std::string> kept;
  for (const auto& [source, target] : parts[0]) kept.insert(source);
  for (const auto& [source, target] : parts[1]) EXPECT_FALSE(kept.contains(source)) << source;
  Pairs together = parts[0];
  together.insert(together.end(), parts[1].begin(), parts[1].end());
  Pairs expected = pairs_of(all);
  std::ranges::sort(together), std::ranges::sort(expected);
  EXPECT_EQ(together, expected);
  RecordReader none(columns, kLongestLine, {0, TextPart::kHeldOut});
  EXPECT_TRUE(pairs_of(none).empty());
}

}  // namespace
}  // namespace attend
