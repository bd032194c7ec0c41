// The header of a safetensors file, checked. Not for use outside io/.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "attend/io/safetensors.h"

namespace attend {

// A large model has thousands of tensors, of some 100 bytes each in the header. What is
// written keeps to the same limits.
inline constexpr size_t kMaxHeaderBytes = size_t{4} << 20;
inline constexpr size_t kMaxTensors = size_t{1} << 15;
inline constexpr size_t kMaxTensorName = 512;
inline constexpr size_t kMaxHeaderText = size_t{1} << 20;  // of the metadata
inline constexpr size_t kMaxMetadata = 1024;               // entries

struct SafetensorsHeader {
  std::vector<SafetensorsFile::Entry> entries;  // by name
  Metadata metadata;
  size_t data_begin = 0;
};

// Throws FormatError unless a file of `file_size` bytes that begins with `start` is whole and well
// formed, within the limits. `start` is all of it, or as much as a header may take. Takes memory
// for the header only, in proportion to its length, whatever the file claims.
SafetensorsHeader parse_safetensors(std::span<const std::byte> start, size_t file_size,
                                    std::string_view origin);

// Throws FormatError unless every byte of the data belongs to one tensor.
void check_layout(std::span<const SafetensorsFile::Entry> entries, size_t data_size,
                  std::string_view origin);

// Throws FormatError where two have one name.
void sort_by_name(std::vector<SafetensorsFile::Entry>& entries, std::string_view origin);

}  // namespace attend
