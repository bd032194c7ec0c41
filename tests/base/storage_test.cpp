#include "attend/base/storage.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "tests/errors.h"
#include "tests/little_memory.h"

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
    expect_error<MemoryError>([&] { const Storage storage(bytes); },
                              "out of memory: asked for " + memory_text(bytes));
    const PoolStatistics after = pool_statistics();
    EXPECT_EQ(after.bytes_from_system, before.bytes_from_system);
    EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
    EXPECT_EQ(after.peak_bytes_in_use, before.peak_bytes_in_use);
  }
}

// Under a limit of address space that the idle block fills.
TEST(Storage, IdleBlocksAreGivenUpBeforeARequestFails) {
  if (!kMemoryCanBeLimited) GTEST_SKIP();
  const auto take_with_little_memory = [] {
    { const Storage idle(size_t{256} << 20); }
    leave_memory(8 << 20);
    const Storage storage(size_t{64} << 20);
    std::_Exit(storage.data() != nullptr ? 0 : 1);
  };
  EXPECT_EXIT(take_with_little_memory(), testing::ExitedWithCode(0), "");
}

// Where there is none left at all, what ends its life then must still end it.
TEST(Storage, GivingBackTakesNoMemory) {
  if (!kMemoryCanBeLimited) GTEST_SKIP();
  const auto give_back_without_memory = [] {
    std::vector<std::unique_ptr<Storage>> blocks(5000);
    for (size_t i = 0; i < blocks.size(); ++i) {
      blocks[i] = std::make_unique<Storage>(64 + 64 * (i % 7));
    }
    leave_memory(0);
    for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2) {
      while (std::malloc(bytes) != nullptr) continue;  // NOLINT: it is to be gone
    }
    for (auto& block : blocks) block->~Storage();  // without freeing the heap's part
    std::_Exit(0);
  };
  EXPECT_EXIT(give_back_without_memory(), testing::ExitedWithCode(0), "");
}

TEST(Storage, MayTakeItsMemoryLater) {
  const size_t before = pool_statistics().bytes_in_use;
  Storage storage(1 << 16, Storage::Memory::kLater);
  EXPECT_EQ(storage.data(), nullptr);
  EXPECT_EQ(storage.bytes(), size_t{1} << 16);
  EXPECT_EQ(pool_statistics().bytes_in_use, before);
  storage.allocate();
  void* const data = storage.data();
  EXPECT_NE(data, nullptr);
  EXPECT_GE(pool_statistics().bytes_in_use, before + (1 << 16));
  storage.allocate();
  EXPECT_EQ(storage.data(), data);
}

TEST(Storage, NothingIsTakenForWhatIsNotUsed) {
  const size_t before = pool_statistics().system_allocations;
  { const Storage huge(std::numeric_limits<size_t>::max(), Storage::Memory::kLater); }
  EXPECT_EQ(pool_statistics().system_allocations, before);
}

TEST(Storage, SizesHaveAUnitThatSuitsThem) {
  EXPECT_EQ(memory_text(0), "0 KB");
  EXPECT_EQ(memory_text(100), "1 KB");
  EXPECT_EQ(memory_text(200 << 10), "200 KB");
  EXPECT_EQ(memory_text(5 << 20), "5 MB");
  EXPECT_EQ(memory_text(size_t{3} << 29), "1.5 GB");
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
