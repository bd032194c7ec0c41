#include "attend/serve/http_outbox.h"

#include <utility>

namespace attend {
namespace {

constexpr size_t kMostHeld = 256 << 10;  // until a writer waits

}  // namespace

bool HttpOutbox::write(const std::string& bytes) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || held_ <= kMostHeld; });
    if (closed_) return false;
    bytes_ += bytes;
    held_ += bytes.size();
    total_ += bytes.size();
  }
  wake_();
  return true;
}

bool HttpOutbox::is_wanted() const {
  const std::lock_guard lock(mutex_);
  return !closed_;
}

void HttpOutbox::finish() { set_end(End::kFinished); }

void HttpOutbox::abort() noexcept {
  try {
    set_end(End::kAborted);
  } catch (...) {  // to wake the network takes memory; it looks by itself, later
    return;
  }
}

void HttpOutbox::set_end(End end) {
  {
    const std::lock_guard lock(mutex_);
    end_ = end;
  }
  wake_();
}

HttpOutbox::Taken HttpOutbox::take() {
  const std::lock_guard lock(mutex_);
  return {std::exchange(bytes_, {}), end_};
}

void HttpOutbox::sent(size_t size) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    held_ -= size;
    total_ -= size;
  }
  changed_.notify_all();
}

void HttpOutbox::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    bytes_ = {};
    total_ -= std::exchange(held_, 0);
  }
  changed_.notify_all();
}

}  // namespace attend
