// The ids of a vocabulary that stand for no text.
#pragma once

#include <cstdint>

namespace attend {

// -1 where a vocabulary has none.
struct SpecialTokens {
  int32_t unknown = 0, start = 1, end = 2;
  int32_t mask = -1;  // stands for a token that a masked language model finds again
  // Ids in a row, each of which stands for a span of a text that is written elsewhere.
  int32_t first_sentinel = -1, sentinels = 0;

  bool operator==(const SpecialTokens&) const = default;
  bool has(int32_t id) const {
    return id >= 0 && (id == unknown || id == start || id == end || id == mask || is_sentinel(id));
  }
  bool is_sentinel(int32_t id) const {
    return id >= first_sentinel && id < first_sentinel + sentinels;
  }
};

}  // namespace attend
