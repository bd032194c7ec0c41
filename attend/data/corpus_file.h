// What the reader and the writer of a corpus file agree on.
#pragma once

#include <cstddef>
#include <string_view>

#include "attend/data/corpus.h"

namespace attend {

inline constexpr std::string_view kCorpusMagic = "ATTENDPC";
inline constexpr uint32_t kCorpusVersion = 1;
inline constexpr size_t kPairBytes = sizeof(PairLengths) + 2 * sizeof(uint64_t);

constexpr size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace attend
