// What the integers of configs may be. The ends lie beyond any model or run there is, and products
// of a few of them do not overflow; what memory there is, is another question.
#pragma once

#include "attend/base/fields.h"

namespace attend::limits {

inline constexpr Range kVocabulary{0, 16'777'216};  // 0: not known yet
inline constexpr Range kWidth{1, 65'536};           // of vectors, states and channels
inline constexpr Range kFeedForward{1, 262'144};
inline constexpr Range kHeads{1, 1024};
inline constexpr Range kLayers{1, 512};
inline constexpr Range kKernel{1, 1024};
inline constexpr Range kLength{1, 1'048'576};  // tokens of a sequence
inline constexpr Range kBeam{1, 4096};
inline constexpr Range kCount{1, 1'000'000'000};      // of lines, tokens of a batch, validations
inline constexpr Range kSteps{1, 1'000'000'000'000};  // of training
inline constexpr Range kAny{0, Range().high};         // seeds

}  // namespace attend::limits
