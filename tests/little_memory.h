// A process that may not have much more memory than it has: for forked children, which end with it.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace attend {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryCanBeLimited = false;  // sanitizers need the address space
#else
inline constexpr bool kMemoryCanBeLimited = true;
#endif

// From now on the address space grows by so many bytes at most.
inline void leave_memory(size_t bytes) {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit space{limit, limit};
  ::setrlimit(RLIMIT_AS, &space);
}

}  // namespace attend
