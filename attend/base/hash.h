// A fast 64-bit hash of bytes, the same on every machine. It is not cryptographic.
#pragma once

#include <cstdint>
#include <string_view>

namespace attend {

// A hash of all the bytes that are added; it does not matter how they are divided over calls.
class Hash {
 public:
  void add(std::string_view bytes);  // appends bytes
  uint64_t value() const;            // of all bytes so far; more may be added

 private:
  void mix(uint64_t word);

  uint64_t state_ = 0x9E3779B97F4A7C15, pending_ = 0, size_ = 0;
};

uint64_t hash_of(std::string_view bytes);  // of these bytes alone

}  // namespace attend
