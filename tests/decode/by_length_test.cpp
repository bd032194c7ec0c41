#include "attend/decode/by_length.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

using Batches = std::vector<std::vector<size_t>>;

TEST(ByLength, LongestFirstWithinTheBudget) {
  const std::vector<size_t> lengths = {2, 5, 3, 9, 1, 3};
  EXPECT_EQ(batches_by_length(lengths, 8), (Batches{{3}, {1, 2}, {5, 0, 4}}));
  EXPECT_EQ(batches_by_length(lengths, 100), (Batches{{3, 1, 2, 5, 0, 4}}));
}

TEST(ByLength, ALineLargerThanTheBudgetGoesAlone) {
  EXPECT_EQ(batches_by_length(std::vector<size_t>{7, 7}, 3), (Batches{{0}, {1}}));
  EXPECT_TRUE(batches_by_length({}, 3).empty());
}

}  // namespace
}  // namespace attend
