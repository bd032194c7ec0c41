#include "attend/base/hash.h"

#include <algorithm>

namespace attend {

void Hash::mix(uint64_t word) {
  // Both halves of the product: every bit of the word reaches every bit of the state.
  const auto product = static_cast<unsigned __int128>(state_ ^ word) * 0xD6E8FEB86659FD93;
  state_ =
      static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^ 0x2545F4914F6CDD1D;
}

void Hash::add(std::string_view bytes) {
  const auto take = [&](size_t count) {
    for (const char c : bytes.substr(0, count)) {
      pending_ |= uint64_t{static_cast<unsigned char>(c)} << (8 * (size_ % 8));
      if (++size_ % 8 == 0) {
        mix(pending_);
        pending_ = 0;
      }
    }
    bytes.remove_prefix(count);
  };
  if (size_ % 8 != 0) take(std::min<size_t>(bytes.size(), 8 - size_ % 8));
  for (; bytes.size() >= 8; bytes.remove_prefix(8), size_ += 8) {
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    mix(word);
  }
  take(bytes.size());
}

uint64_t Hash::value() const {
  Hash end = *this;
  end.mix(pending_);
  end.mix(size_);
  return end.state_;
}

uint64_t hash_of(std::string_view bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.value();
}

}  // namespace attend
