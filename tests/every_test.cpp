// What holds for every test: it starts with an empty pool of memory, whatever ran before it in the
// same process. Idle blocks that are a little too large would otherwise count as its own.
#include <gtest/gtest.h>

#include "attend/base/storage.h"

namespace attend {
namespace {

class FreshMemory : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*test*/) override { release_unused_memory(); }
};

[[maybe_unused]] const bool kListens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new FreshMemory);  // gtest's from now on
  return true;
}();

// As if another test had left an idle block behind.
TEST(FreshMemory, IsWhatTheNextTestFinds) {
  { const Storage larger(360'448); }
  EXPECT_GE(pool_statistics().bytes_from_system, 360'448u);
}

TEST(FreshMemory, HasNoIdleBlocks) {
  const PoolStatistics pool = pool_statistics();
  EXPECT_EQ(pool.bytes_from_system, pool.bytes_in_use);
}

}  // namespace
}  // namespace attend
