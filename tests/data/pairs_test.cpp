#include "attend/data/pairs.h"

#include <utility>

#include "attend/base/error.h"
#include "tests/data/files.h"

namespace attend {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs_of(PairReader& reader) {
  Pairs pairs;
  while (reader.next()) pairs.emplace_back(reader.source(), reader.target());
  return pairs;
}

Pairs pairs_of(const PairFiles& files) {
  PairReader reader(files);
  return pairs_of(reader);
}

class PairReaderTest : public DataFiles {};

TEST_F(PairReaderTest, LinesOfTwoFilesBelongTogether) {
  const auto source = write("a", "one\ntwo\n"), target = write("b.gz", gzip("eins\nzwei"));
  EXPECT_EQ(pairs_of({source, target}), (Pairs{{"one", "eins"}, {"two", "zwei"}}));
}

TEST_F(PairReaderTest, ColumnsOfOneFileBelongTogether) {
  const auto file = write("a.tsv", "one\teins\tun\ntwo\tzwei\tdeux\r\n\n");
  EXPECT_EQ(pairs_of({file}), (Pairs{{"one", "eins"}, {"two", "zwei"}}));
  EXPECT_EQ(pairs_of({.source = file, .source_column = 3, .target_column = 1}),
            (Pairs{{"un", "one"}, {"deux", "two"}}));
}

TEST_F(PairReaderTest, PairsWithAnEmptySideAreLeftOutAndCounted) {
  PairReader reader(
      {write("a", "one\n\n \t\nfour\nfive\xFF\n"), write("b", "eins\nzwei\ndrei\n\r\nfünf\n")});
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), 1u);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.source(), "five\uFFFD");
  EXPECT_EQ(reader.target(), "fünf");
  EXPECT_EQ(reader.line(), 5u);
  EXPECT_FALSE(reader.next());
  const PairCounts expected{
      .text = {.lines = 10, .invalid_utf8 = 1, .carriage_returns = 1}, .pairs = 2, .empty = 3};
  EXPECT_EQ(reader.counts(), expected);
}

TEST_F(PairReaderTest, ALineOverTheLimitTakesItsPartnerWithIt) {
  PairReader reader({write("a", "1\n2\n3\n"), write("b", "a\nlonger than it may be\nc\n")}, 10);
  EXPECT_EQ(pairs_of(reader), (Pairs{{"1", "a"}, {"3", "c"}}));
  EXPECT_EQ(reader.counts().too_long, 1u);
  EXPECT_EQ(reader.counts().empty, 0u);
}

TEST_F(PairReaderTest, UnequalNumbersOfLinesAreRefusedWithBoth) {
  const auto five = write("five.txt", "1\n2\n3\n4\n5\n"), three = write("three.txt", "1\n2\n3");
  for (const auto& [source, target] : {std::pair(five, three), std::pair(three, five)}) {
    const std::string error = message_of<DataError>([&] { pairs_of({source, target}); });
    EXPECT_NE(error.find("five.txt has 5"), error.npos) << error;
    EXPECT_NE(error.find("three.txt has 3"), error.npos) << error;
  }
}

TEST_F(PairReaderTest, AMissingColumnIsRefusedWithItsLine) {
  const auto file = write("a.tsv", "one\teins\ntwo zwei\n");
  const std::string error = message_of<DataError>([&] { pairs_of({file}); });
  EXPECT_NE(error.find("a.tsv:2: 1 columns"), error.npos) << error;
  EXPECT_THROW(pairs_of({.source = file, .source_column = 0}), ConfigError);
  EXPECT_THROW(pairs_of({"-", "-"}), ConfigError);
}

}  // namespace
}  // namespace attend
