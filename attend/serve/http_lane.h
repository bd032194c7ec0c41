// Threads for one kind of work, and a bounded queue before them. Where every kind has its own, long
// work never keeps short work waiting. Not for use outside serve/.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace attend {

struct HttpLaneOptions {
  size_t threads = 2;
  size_t waiting = 64;  // at most, beside those that run
};

class HttpLane {
 public:
  explicit HttpLane(const HttpLaneOptions& options);
  ~HttpLane() { stop(); }
  HttpLane(const HttpLane&) = delete;
  HttpLane& operator=(const HttpLane&) = delete;

  struct Job {
    std::function<void()> work;       // does not throw
    std::function<bool()> is_wanted;  // asked from any thread
  };

  // False where the queue is full of work that is still wanted, or after stop().
  bool post(Job job);
  // Forgets what waits, and returns when what runs has ended. Nothing starts afterwards.
  void stop();

 private:
  void run();

  HttpLaneOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace attend
