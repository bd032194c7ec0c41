// SentencePiece models, made field by field as protocol buffers are.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace attend::hostile {

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string bytes_field(uint32_t number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

inline std::string number_field(uint32_t number, uint64_t value) {
  return varint(number << 3) + varint(value);
}

inline std::string float_field(uint32_t number, float value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return varint(number << 3 | 5) + bytes;
}

enum PieceType { kNormal = 1, kUnknownPiece = 2, kControl = 3, kUserDefined = 4, kByte = 6 };

inline std::string piece(std::string_view text, float score = 0, uint64_t type = kNormal) {
  return bytes_field(1, bytes_field(1, text) + float_field(2, score) + number_field(3, type));
}

inline std::string special_pieces() {
  return piece("<unk>", 0, kUnknownPiece) + piece("<s>", 0, kControl) + piece("</s>", 0, kControl);
}

// A unigram model of these pieces after the special ones; `rest` follows.
inline std::string unigram_model(const std::string& pieces, const std::string& normalizer = "",
                                 const std::string& rest = "") {
  return special_pieces() + pieces + bytes_field(2, number_field(3, 1)) +
         bytes_field(3, normalizer) + rest;
}

// The double-array trie of a character map, each node with a block of 256 units to itself.
class CharacterMapMaker {
 public:
  CharacterMapMaker() : units_(2 * kBlock) { units_[0] = kBlock << 10; }

  static constexpr uint32_t kRoot = 0;

  // The node that `label` leads to from `node`, a new one or one that is there.
  uint32_t link(uint32_t node, unsigned char label) {
    units_.resize(units_.size() + kBlock);
    return link(node, label, static_cast<uint32_t>(units_.size() / kBlock - 2));
  }
  uint32_t link(uint32_t node, unsigned char label, uint32_t to) {
    const uint32_t at = base(node) + label;
    units_[at] = label | (at ^ base(to)) << 10;
    return to;
  }
  // A key ends with the step from `node` by `label`; its text is at `place`.
  void end(uint32_t node, unsigned char label, uint32_t to, uint32_t place) {
    units_[base(node) + label] |= kBlock;
    units_[base(to)] = 0x80000000 | place;
  }
  uint32_t& unit(size_t at) { return units_[at]; }

  std::string map(std::string_view texts) const {
    const auto bytes = static_cast<uint32_t>(4 * units_.size());
    std::string all(reinterpret_cast<const char*>(&bytes), 4);
    all.append(reinterpret_cast<const char*>(units_.data()), bytes);
    return all.append(texts);
  }

 private:
  static constexpr uint32_t kBlock = 256;
  static uint32_t base(uint32_t node) { return (node + 1) * kBlock; }

  std::vector<uint32_t> units_;
};

}  // namespace attend::hostile
