// What a thread that works has written and the network has not sent yet. The one blocks while much
// is waiting, the other never does. Not for use outside serve/.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace attend {

class HttpOutbox {
 public:
  // `wake` is called from any thread when there is something to send. `total` counts the bytes
  // of all outboxes.
  HttpOutbox(std::atomic<size_t>& total, std::function<void()> wake)
      : total_(total), wake_(std::move(wake)) {}
  ~HttpOutbox() { total_ -= held_; }
  HttpOutbox(const HttpOutbox&) = delete;
  HttpOutbox& operator=(const HttpOutbox&) = delete;

  // For whoever works. False once the client has gone; write() waits while too much is held.
  bool write(const std::string& bytes);
  bool is_wanted() const;
  void finish();          // nothing more will be written
  void abort() noexcept;  // the same, in the middle: the client is to see that something is missing

  // For the network.
  enum class End { kNone, kFinished, kAborted };
  struct Taken {
    std::string bytes;
    End end;  // what comes after these bytes
  };
  Taken take();            // all there is
  void sent(size_t size);  // bytes that were taken have left
  void close();            // the client has gone

 private:
  void set_end(End end);

  std::atomic<size_t>& total_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string bytes_;  // not yet taken
  size_t held_ = 0;    // taken or not, until sent
  End end_ = End::kNone;
  bool closed_ = false;
};

}  // namespace attend
