// The clock that measures how long things take.
#pragma once

#include <chrono>

namespace attend {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace attend
