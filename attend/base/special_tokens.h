// The ids of a vocabulary that stand for no text.
#pragma once

#include <cstdint>

namespace attend {

struct SpecialTokens {
  int32_t unknown = 0, start = 1, end = 2;
  bool operator==(const SpecialTokens&) const = default;
};

}  // namespace attend
