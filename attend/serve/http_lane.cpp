#include "attend/serve/http_lane.h"

#include <utility>

namespace attend {

HttpLane::HttpLane(const HttpLaneOptions& options) : options_(options) {
  try {
    while (threads_.size() < options.threads) threads_.emplace_back([this] { run(); });
  } catch (...) {
    stop();
    throw;
  }
}

bool HttpLane::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= options_.waiting) {
      std::erase_if(jobs_, [](const Job& waiting) { return !waiting.is_wanted(); });
    }
    if (stopping_ || jobs_.size() >= options_.waiting) return false;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

void HttpLane::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void HttpLane::run() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    if (job.is_wanted()) job.work();
  }
}

}  // namespace attend
