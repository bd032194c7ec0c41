// The header of a safetensors file, checked. Inner to io.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "attend/io/safetensors.h"

namespace attend {

struct SafetensorsHeader {
  std::vector<SafetensorsFile::Entry> entries;  // by name
  Metadata metadata;
  size_t data_begin = 0;
};

// Throws FormatError unless `file` is a whole, well-formed file. Takes memory for the header only,
// in proportion to its length, whatever the file claims.
SafetensorsHeader parse_safetensors(std::span<const std::byte> file, std::string_view origin);

}  // namespace attend
