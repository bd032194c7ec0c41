// What the reader and the writer of a corpus file agree on. Not for use outside data/.
#pragma once

#include <cstddef>
#include <string_view>

#include "attend/data/corpus.h"

namespace attend {

inline constexpr std::string_view kCorpusMagic = "ATTENDRC";
inline constexpr uint32_t kCorpusVersion = 2;
inline constexpr size_t kMostColumns = 64;

// Bytes of the table that a record takes.
constexpr size_t table_bytes(size_t columns) {
  return columns * sizeof(uint32_t) + sizeof(uint64_t);
}

template <typename T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace attend
