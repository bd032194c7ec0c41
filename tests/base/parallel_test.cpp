#include "attend/base/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace attend {
namespace {

TEST(ParallelFor, VisitsEachIndexOnce) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{7}, size_t{64}, size_t{1000}}) {
    std::vector<std::atomic<int>> visits(size);
    parallel_for(size, 7, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) ++visits[i];
    });
    for (const auto& count : visits) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelFor, ChunkBordersDoNotDependOnThreads) {
  const auto borders = [](int threads) {
    const ThreadCountScope scope(threads);
    std::mutex mutex;
    std::set<std::pair<size_t, size_t>> seen;
    parallel_for(101, 10, [&](size_t begin, size_t end) {
      std::lock_guard lock(mutex);
      seen.emplace(begin, end);
    });
    return seen;
  };
  EXPECT_EQ(borders(1), borders(2));
  EXPECT_EQ(borders(1), borders(4));
  EXPECT_EQ(borders(1).size(), 11u);
}

TEST(ParallelFor, ExceptionReachesTheCaller) {
  const ThreadCountScope scope(2);
  EXPECT_THROW(parallel_for(100, 1,
                            [](size_t begin, size_t) {
                              if (begin == 42) throw std::runtime_error("from a chunk");
                            }),
               std::runtime_error);
}

TEST(ParallelFor, NestedCallRunsInItsThread) {
  const ThreadCountScope scope(2);
  std::atomic<int> sum{0};
  parallel_for(8, 1, [&](size_t, size_t) { parallel_for(8, 1, [&](size_t, size_t) { ++sum; }); });
  EXPECT_EQ(sum, 64);
}

// Several threads of a program may ask at once: one gets the pool, the others do their own work.
TEST(ParallelFor, ManyCallersAtOnce) {
  const ThreadCountScope scope(3);
  std::atomic<int> sum{0};
  std::array<std::thread, 4> callers;
  for (std::thread& caller : callers) {
    caller = std::thread([&] {
      for (int i = 0; i < 500; ++i) parallel_for(16, 1, [&](size_t, size_t) { ++sum; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 500 * 16);
}

TEST(ParallelFor, ThreadsMayComeAndGo) {
  std::atomic<int> sum{0};
  for (int i = 0; i < 300; ++i) {
    const ThreadCountScope scope(1 + i % 6);
    parallel_for(10, 1, [&](size_t, size_t) { ++sum; });
    if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // they fall asleep
  }
  EXPECT_EQ(sum, 3000);
}

TEST(ParallelFor, WorksInAForkedProcess) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads after a fork";
#endif
  const ThreadCountScope scope(2);
  std::atomic<int> sum{0};
  parallel_for(8, 1, [&](size_t, size_t) { ++sum; });
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    parallel_for(8, 1, [&](size_t, size_t) { ++sum; });
    _exit(sum == 16 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(ThreadCount, ScopeRestores) {
  const int before = thread_count();
  {
    const ThreadCountScope scope(before + 3);
    EXPECT_EQ(thread_count(), before + 3);
  }
  EXPECT_EQ(thread_count(), before);
}

}  // namespace
}  // namespace attend
