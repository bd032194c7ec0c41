// Ranges for the integers of configs. They are wider than any real model or run needs, yet narrow
// enough that products of a few of them do not overflow. They say nothing about memory.
#pragma once

#include "attend/base/fields.h"

namespace attend::limits {

inline constexpr Range kVocabulary{0, 16'777'216};    // 0: not known yet
inline constexpr Range kWidth{1, 65'536};             // of vectors, states and channels
inline constexpr Range kFeedForward{1, 262'144};      // inner width of a feed-forward layer
inline constexpr Range kHeads{1, 1024};               // of an attention layer
inline constexpr Range kLayers{1, 512};               // of an encoder or decoder
inline constexpr Range kKernel{1, 1024};              // width of a convolution
inline constexpr Range kLength{1, 1'048'576};         // tokens of a sequence
inline constexpr Range kBeam{1, 4096};                // hypotheses or samples
inline constexpr Range kCount{1, 1'000'000'000};      // lines, tokens of a batch, validations
inline constexpr Range kSteps{1, 1'000'000'000'000};  // of training
inline constexpr Range kAny{0, Range().high};         // seeds

}  // namespace attend::limits
