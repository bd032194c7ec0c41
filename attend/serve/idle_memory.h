// Memory that a request needed and the next ones may not. Not for use outside serve/.
#pragma once

#include <cstddef>

#include "attend/kernels/scratch.h"

namespace attend {

// Where a thread of the server computes. When it goes, the thread gives back what kernels keep for
// it: there are many threads, and one computes at a time.
class ThreadMemory {
 public:
  ThreadMemory() = default;
  ThreadMemory(const ThreadMemory&) = delete;
  ThreadMemory& operator=(const ThreadMemory&) = delete;
  ~ThreadMemory() { kernels::release_scratch(); }
};

// Where it computes much. The system gets back what lies idle in the heap, and in the pool if that
// is much as well.
class IdleMemory {
 public:
  static constexpr size_t kKept = size_t{4} << 20;  // bytes of the pool

  IdleMemory() = default;
  IdleMemory(const IdleMemory&) = delete;
  IdleMemory& operator=(const IdleMemory&) = delete;
  ~IdleMemory();

 private:
  ThreadMemory thread_;
};

}  // namespace attend
