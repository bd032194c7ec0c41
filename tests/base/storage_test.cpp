#include "attend/base/storage.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace attend {
namespace {

TEST(Storage, IsAlignedToACacheLine) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1000}, size_t{5} << 20}) {
    const Storage storage(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage.data()) % 64, 0u) << bytes;
  }
}

TEST(Storage, ReusesMemoryOfTheSameSize) {
  { const Storage warm(123456); }
  const size_t before = pool_statistics().system_allocations;
  for (int i = 0; i < 10; ++i) const Storage storage(123456);
  EXPECT_EQ(pool_statistics().system_allocations, before);
}

TEST(Storage, ReusesALargerBlockButNotAWastefulOne) {
  release_unused_memory();
  { const Storage block(1 << 20); }
  const size_t before = pool_statistics().system_allocations;
  { const Storage smaller((1 << 20) * 6 / 10); }
  EXPECT_EQ(pool_statistics().system_allocations, before);
  { const Storage tiny(1 << 10); }
  EXPECT_EQ(pool_statistics().system_allocations, before + 1);
}

TEST(Storage, CountsWhatIsInUse) {
  const size_t before = pool_statistics().bytes_in_use;
  {
    const Storage storage(1 << 16);
    EXPECT_GE(pool_statistics().bytes_in_use, before + (1 << 16));
    EXPECT_LE(pool_statistics().bytes_in_use, before + (1 << 17));
  }
  EXPECT_EQ(pool_statistics().bytes_in_use, before);
}

TEST(Storage, PeakStartsAgain) {
  { const Storage storage(8 << 20); }
  EXPECT_GE(pool_statistics().peak_bytes_in_use, size_t{8} << 20);
  reset_peak_bytes();
  EXPECT_EQ(pool_statistics().peak_bytes_in_use, pool_statistics().bytes_in_use);
}

TEST(Storage, GivesUnusedMemoryBack) {
  { const Storage storage(3 << 20); }
  release_unused_memory();
  EXPECT_LE(pool_statistics().bytes_from_system, 2 * pool_statistics().bytes_in_use);
}

TEST(Storage, DoesNotKeepWhatWasOutgrown) {
  release_unused_memory();
  const size_t before = pool_statistics().bytes_from_system;
  for (const size_t megabytes : {1, 3, 9}) const Storage storage(megabytes << 20);
  EXPECT_LE(pool_statistics().bytes_from_system - before, size_t{10} << 20);
}

TEST(Storage, KeepsIdleBlocksThatTheNewOneDoesNotNeedToReplace) {
  release_unused_memory();
  const size_t before = pool_statistics().bytes_from_system;
  { const Storage large(size_t{9} << 20), small(size_t{1} << 20); }
  { const Storage other(size_t{3} << 20); }  // takes the place of the small one
  EXPECT_EQ(pool_statistics().bytes_from_system - before, size_t{12} << 20);
}

TEST(Storage, WhatTheSystemRefusesDoesNotCount) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer ends the program";
#endif
  release_unused_memory();
  reset_peak_bytes();
  const PoolStatistics before = pool_statistics();
  for (const size_t bytes : {size_t{1} << 50, std::numeric_limits<size_t>::max()}) {
    EXPECT_THROW(const Storage storage(bytes), std::bad_alloc) << bytes;
    const PoolStatistics after = pool_statistics();
    EXPECT_EQ(after.bytes_from_system, before.bytes_from_system);
    EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
    EXPECT_EQ(after.peak_bytes_in_use, before.peak_bytes_in_use);
  }
}

// Under a limit of address space that the idle block fills.
TEST(Storage, IdleBlocksAreGivenUpBeforeARequestFails) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  const auto take_with_little_memory = [] {
    { const Storage idle(size_t{256} << 20); }
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit = pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) + (8 << 20);
    const rlimit space{limit, limit};
    ::setrlimit(RLIMIT_AS, &space);
    const Storage storage(size_t{64} << 20);
    std::_Exit(storage.data() != nullptr ? 0 : 1);
  };
  EXPECT_EXIT(take_with_little_memory(), testing::ExitedWithCode(0), "");
}

TEST(Storage, MayBeUsedFromManyThreads) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (size_t i = 1; i < 200; ++i) {
        const Storage storage(i * 64);
        *static_cast<int*>(storage.data()) = t;
        ASSERT_EQ(*static_cast<int*>(storage.data()), t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace attend
