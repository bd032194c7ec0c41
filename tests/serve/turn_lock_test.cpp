// Whose turn it is.
#include "attend/serve/turn_lock.h"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace attend {
namespace {

class TurnLockTest : public ::testing::Test {
 protected:
  ~TurnLockTest() override {
    for (std::thread& thread : threads_) thread.join();
  }

  // Has a thread wait for its turn, in which it writes its name down.
  void queue(char name, bool is_short) {
    const uint64_t before = lock_.waiting();
    threads_.emplace_back([this, name, is_short] {
      is_short ? lock_.lock_for_short() : lock_.lock();
      order_ += name;
      lock_.unlock();
    });
    while (lock_.waiting() == before) std::this_thread::yield();
  }

  void finish() {
    lock_.unlock();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  TurnLock lock_;
  std::string order_;
  std::vector<std::thread> threads_;
};

TEST_F(TurnLockTest, IsGivenInOrder) {
  lock_.lock();
  for (const char name : {'a', 'b', 'c'}) queue(name, false);
  finish();
  EXPECT_EQ(order_, "abc");
}

TEST_F(TurnLockTest, ShortWorkGoesFirstEveryOtherTime) {
  lock_.lock();
  for (const char name : {'a', 'b'}) queue(name, false);
  for (const char name : {'1', '2', '3', '4'}) queue(name, true);
  finish();
  EXPECT_EQ(order_, "1a2b34");
}

TEST_F(TurnLockTest, WhoTakesItAgainComesLast) {
  lock_.lock();
  queue('a', false);
  lock_.unlock();
  lock_.lock();
  order_ += 'b';
  finish();
  EXPECT_EQ(order_, "ab");
}

}  // namespace
}  // namespace attend
