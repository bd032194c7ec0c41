// Ids that mean the same in every vocabulary (SentencePiece's own default).
#pragma once

#include <cstdint>

namespace attend {

inline constexpr int32_t kUnknown = 0, kStart = 1, kEnd = 2;
inline constexpr int32_t kSpecialTokens = 3;  // the first id of a piece of text

}  // namespace attend
