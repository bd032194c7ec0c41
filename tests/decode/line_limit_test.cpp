#include "attend/decode/line_limit.h"

#include <gtest/gtest.h>

#include "tests/errors.h"

namespace attend {
namespace {

TEST(LineLimit, IsTheSmallerOfWhatIsAskedForAndThePositions) {
  const ColumnSpec any{.name = "source", .framing = {.end = true}};
  EXPECT_TRUE(line_limit(any, 0).allows(1'000'000));
  EXPECT_EQ(line_limit(any, 7).tokens, 7u);
  EXPECT_FALSE(line_limit(any, 7).by_positions);

  ColumnSpec learned = any;
  learned.positions = 10;
  EXPECT_EQ(line_limit(learned, 0).tokens, 9u);
  EXPECT_TRUE(line_limit(learned, 0).by_positions);
  EXPECT_EQ(line_limit(learned, 20).tokens, 9u);
  EXPECT_EQ(line_limit(learned, 9).tokens, 9u);
  EXPECT_FALSE(line_limit(learned, 9).by_positions);
  learned.framing.start = true;
  EXPECT_EQ(line_limit(learned, 0).tokens, 8u);
  learned.positions = 2;  // nothing but the frame, which is not any number of tokens
  EXPECT_EQ(line_limit(learned, 0).tokens, 1u);
}

TEST(LineLimit, TheStricterAllowsLess) {
  const LineLimit any, five{5}, three{3, true};
  for (const LineLimit& limit : {stricter(five, three), stricter(three, five)}) {
    EXPECT_EQ(limit.tokens, 3u);
    EXPECT_TRUE(limit.by_positions);
  }
  EXPECT_EQ(stricter(any, five).tokens, 5u);
  EXPECT_EQ(stricter(five, any).tokens, 5u);
  EXPECT_EQ(stricter(any, any).tokens, 0u);
}

TEST(LineLimit, ErrorsSayWhatToDo) {
  expect_error<DataError>(
      [] { LineLimit{5}.fail("a.txt:3", 8); },
      "a.txt:3: the line has 8 tokens, but at most 5 are allowed; break it into "
      "sentences, or raise the limit (longest_line)");
  expect_error<DataError>(
      [] {
        LineLimit{5, true}.fail("a.txt:3", 8);
      },
      "but the model has learned positions for 5; break it into sentences");
}

}  // namespace
}  // namespace attend
