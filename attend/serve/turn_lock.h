// A lock that is given in the order in which it was asked for: who lets go of it and takes it again
// at once comes after all who wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace attend {

class TurnLock {
 public:
  void lock() {
    std::unique_lock hold(mutex_);
    const uint64_t mine = next_++;
    turned_.wait(hold, [&] { return mine == now_; });
  }

  void unlock() {
    {
      const std::lock_guard hold(mutex_);
      ++now_;
    }
    turned_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable turned_;
  uint64_t next_ = 0, now_ = 0;
};

}  // namespace attend
