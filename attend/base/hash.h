// A fast 64-bit fingerprint of bytes, the same on every machine; not for adversaries.
#pragma once

#include <cstdint>
#include <string_view>

namespace attend {

// Bytes may be given in any portions.
class Hash {
 public:
  void add(std::string_view bytes);
  uint64_t value() const;

 private:
  void mix(uint64_t word);

  uint64_t state_ = 0x9E3779B97F4A7C15, pending_ = 0, size_ = 0;
};

uint64_t hash_of(std::string_view bytes);

}  // namespace attend
