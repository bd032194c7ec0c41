#include "attend/metrics/alignment.h"

#include <gtest/gtest.h>

#include "attend/base/error.h"

namespace attend {
namespace {

TEST(Alignment, ReadsAndWritesMosesLinks) {
  EXPECT_EQ(parse_links(" 0-0 1-2  10p3\t4?5"),
            (std::vector<Link>{{0, 0}, {1, 2}, {10, 3, false}, {4, 5, false}}));
  EXPECT_EQ(format_links(parse_links("0-0 1-2 10?3")), "0-0 1-2 10p3");
  EXPECT_TRUE(parse_links("").empty());
}

TEST(Alignment, RefusesWhatIsNoLink) {
  for (const char* text :
       {"0", "0-", "-1", "1-2-3", "1--2", "a-b", "1:2", "4294967296-0", "0-0 1"}) {
    EXPECT_THROW(parse_links(text), FormatError) << text;
  }
}

// By hand: A = 5 links, S = 4, of which A has 3; A has 4 of the possible.
TEST(Alignment, RatesFollowOchAndNey) {
  const AlignmentStats stats =
      alignment_stats(parse_links("0-0 1-1 2-2 3-4 7-7"), parse_links("0-0 1-1 2-2 5-5 3p4 6p6"));
  EXPECT_DOUBLE_EQ(alignment_precision(stats), 100 * 4 / 5.0);
  EXPECT_DOUBLE_EQ(alignment_recall(stats), 100 * 3 / 4.0);
  EXPECT_DOUBLE_EQ(alignment_error_rate(stats), 100 - 100 * (3 + 4) / 9.0);
}

TEST(Alignment, OrderAndRepetitionDoNotMatter) {
  const AlignmentStats once = alignment_stats(parse_links("0-0 1-1"), parse_links("0-0 1-1 2p2"));
  const AlignmentStats again =
      alignment_stats(parse_links("1-1 0-0 1-1"), parse_links("2p2 1p1 1-1 0-0 1p1"));
  EXPECT_EQ(alignment_error_rate(once), 0);
  EXPECT_EQ(again.links, once.links);
  EXPECT_EQ(again.sure, once.sure);
  EXPECT_EQ(again.sure_matches, once.sure_matches);
  EXPECT_EQ(again.possible_matches, once.possible_matches);
}

TEST(Alignment, SumsOverLines) {
  AlignmentStats stats = alignment_stats(parse_links("0-0"), parse_links("0-0"));
  stats += alignment_stats(parse_links("0-1"), parse_links("0-0"));
  EXPECT_EQ(alignment_error_rate(stats), 50);
  EXPECT_EQ(alignment_precision(stats), 50);
  EXPECT_EQ(alignment_recall(stats), 50);
}

TEST(Alignment, OfNothing) {
  EXPECT_EQ(alignment_error_rate({}), 0);
  EXPECT_EQ(alignment_precision({}), 100);
  EXPECT_EQ(alignment_recall({}), 100);
}

}  // namespace
}  // namespace attend
