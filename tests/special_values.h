// Numbers that are none, for tests of what an op does with them.
#pragma once

#include <limits>

namespace attend {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace attend
