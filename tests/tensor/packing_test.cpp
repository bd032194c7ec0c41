#include "attend/tensor/packing.h"

#include <gtest/gtest.h>

#include <limits>

#include "attend/base/error.h"

namespace attend {
namespace {

TEST(Packing, TellsWhereSequencesLie) {
  const Packing packing = Packing::of({3, 0, 2});
  EXPECT_EQ(packing.count(), 3u);
  EXPECT_EQ(packing.rows(), 5u);
  EXPECT_EQ(packing.begin(2), 3u);
  EXPECT_EQ(packing.end(2), 5u);
  EXPECT_EQ(packing.length(1), 0u);
  EXPECT_EQ(packing.longest(), 3u);
}

TEST(Packing, MayBeEmpty) {
  const Packing packing;
  EXPECT_EQ(packing.count(), 0u);
  EXPECT_EQ(packing.rows(), 0u);
  EXPECT_EQ(packing.longest(), 0u);
}

TEST(Packing, EvenSequences) { EXPECT_EQ(Packing::even(3, 4), Packing::of({4, 4, 4})); }

TEST(Packing, RefusesNegativeAndOverflowingLengths) {
  EXPECT_THROW(Packing::of({2, -1}), DataError);
  const int32_t most = std::numeric_limits<int32_t>::max();
  EXPECT_THROW(Packing::of({most, 1}), DataError);
}

}  // namespace
}  // namespace attend
