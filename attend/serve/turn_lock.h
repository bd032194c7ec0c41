// A lock that is given in the order in which it was asked for: who lets go of it and takes it again
// at once comes after all who wait. Short work goes before long work, every other time. Not for use
// outside serve/.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace attend {

class TurnLock {
 public:
  void lock() { take(long_); }
  void lock_for_short() { take(short_); }

  void unlock() {
    {
      const std::lock_guard hold(mutex_);
      pass_on();
    }
    turned_.notify_all();
  }

  uint64_t waiting() const {
    const std::lock_guard hold(mutex_);
    return long_.waiting() + short_.waiting();
  }

 private:
  struct Line {
    uint64_t asked = 0, given = 0;
    uint64_t waiting() const { return asked - given; }
  };

  void take(Line& line) {
    std::unique_lock hold(mutex_);
    const uint64_t mine = line.asked++;
    if (!is_taken_) pass_on();
    turned_.wait(hold, [&] { return mine < line.given; });
  }

  void pass_on() {
    const bool to_short = short_.waiting() > 0 && (long_.waiting() == 0 || !was_short_);
    Line& next = to_short ? short_ : long_;
    is_taken_ = next.waiting() > 0;
    if (!is_taken_) return;
    was_short_ = to_short;
    ++next.given;
  }

  mutable std::mutex mutex_;
  std::condition_variable turned_;
  Line long_, short_;
  bool is_taken_ = false, was_short_ = false;
};

// Has the lock for a short while.
class ShortTurn {
 public:
  explicit ShortTurn(TurnLock& lock) : lock_(lock) { lock_.lock_for_short(); }
  ~ShortTurn() { lock_.unlock(); }
  ShortTurn(const ShortTurn&) = delete;
  ShortTurn& operator=(const ShortTurn&) = delete;

 private:
  TurnLock& lock_;
};

}  // namespace attend
