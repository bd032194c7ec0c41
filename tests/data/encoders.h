// Tokenizers of tests of data: a token is a byte.
#pragma once

#include <string_view>

#include "attend/data/line_records.h"

namespace attend {

// In a vocabulary as large as one likes: 'u' is unknown, '_' is nothing, 'Z' is the last id.
inline TextEncoder byte_encoder(size_t vocabulary = 300) {
  const auto encode = [=](std::string_view line) {
    std::vector<int32_t> ids;
    for (const char c : line) {
      if (c == 'Z')
        ids.push_back(static_cast<int32_t>(vocabulary) - 1);
      else if (c != '_')
        ids.push_back(c == 'u' ? SpecialTokens().unknown : static_cast<unsigned char>(c));
    }
    return ids;
  };
  return {encode, vocabulary, vocabulary};
}

// The whole line is one label: its first byte.
inline TextEncoder label_encoder() {
  return {[](std::string_view line) {
            return std::vector<int32_t>{static_cast<unsigned char>(line.front())};
          },
          256, 1};
}

}  // namespace attend
