// The map is the size of a double-array trie (Darts), the trie, and the texts its leaves point to,
// each ended by NUL. A unit of the trie, 32 bits: a leaf has bit 31 and the place of its text; any
// other has its label in bits 0 to 7, in bit 8 whether a key ends there, and above it how to get
// from its own place to the base of its children. The child of label c lies at base ^ c, the leaf
// at base.
#include "attend/text/character_map.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "attend/base/utf8.h"

namespace attend {
namespace {

constexpr uint32_t kLeaf = 0x80000000, kBlock = 256, kNone = UINT32_MAX;
constexpr size_t kMostBytes = size_t{1} << 20;  // SentencePiece's own maps have a quarter of it
constexpr uint32_t kLongestKey = 255;
constexpr size_t kMostMatches = 32, kMostGrowth = 16;
constexpr size_t kEscapedSpace = 3;  // a space becomes ▁

class Trie {
 public:
  explicit Trie(std::string_view bytes) : bytes_(bytes) {}

  uint32_t size() const { return static_cast<uint32_t>(bytes_.size() / 4); }
  uint32_t unit(uint32_t at) const {
    uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + 4 * size_t{at}, 4);
    return value;
  }
  bool is_leaf(uint32_t at) const { return (unit(at) & kLeaf) != 0; }
  bool ends_key(uint32_t at) const { return (unit(at) & kBlock) != 0; }
  uint32_t label(uint32_t at) const { return unit(at) & 0xFF; }
  uint32_t base(uint32_t at) const {
    const uint32_t value = unit(at);
    return at ^ ((value >> 10) << ((value & (1u << 9)) >> 6));
  }

 private:
  std::string_view bytes_;
};

class MapCheck {
 public:
  MapCheck(Trie trie, std::string_view texts) : trie_(trie), texts_(texts) {}

  std::string_view fault() {
    for (uint32_t i = 0; i < trie_.size(); ++i) {
      if (trie_.is_leaf(i)) {
        if ((trie_.unit(i) & ~kLeaf) >= texts_.size()) return "the character map points outside";
        continue;
      }
      if (trie_.base(i) / kBlock >= trie_.size() / kBlock) {
        return "the character map points outside";
      }
      if (trie_.ends_key(i) && !trie_.is_leaf(trie_.base(i))) {
        return "the character map lacks a leaf";
      }
    }
    link_children();
    const std::string_view grows = check_texts();
    if (!grows.empty()) return grows;
    return check_matches(trie_.base(0), 0) ? "" : "the character map has no end";
  }

 private:
  // Children by the base they lie at.
  void link_children() {
    first_.assign(trie_.size(), kNone);
    next_.assign(trie_.size(), kNone);
    for (uint32_t i = trie_.size(); i-- > 0;) {
      if (trie_.is_leaf(i) || trie_.label(i) == 0) continue;  // text has no NUL
      const uint32_t base = i ^ trie_.label(i);
      next_[i] = first_[base];
      first_[base] = i;
    }
  }

  // Level by level from the root, so that each base is met on the shortest way to it.
  std::string_view check_texts() {
    std::vector<bool> seen(trie_.size());
    std::vector<uint32_t> level = {trie_.base(0)}, deeper;
    seen[level.front()] = true;
    for (size_t length = 1; !level.empty(); ++length, level.swap(deeper)) {
      deeper.clear();
      for (const uint32_t base : level) {
        for (uint32_t child = first_[base]; child != kNone; child = next_[child]) {
          const uint32_t below = trie_.base(child);
          if (trie_.ends_key(child) && !fits(trie_.unit(below) & ~kLeaf, length)) {
            return "its character map makes a text grow without bound";
          }
          if (!seen[below]) deeper.push_back(below);
          seen[below] = true;
        }
      }
    }
    return "";
  }

  bool fits(uint32_t place, size_t key) const {
    const size_t most = kMostGrowth * key;
    const std::string_view room = texts_.substr(place, most + 1);
    const size_t size = room.find('\0');
    if (size == room.npos) return false;
    const std::string_view text = room.substr(0, size);
    size_t grown = size;
    for (const char c : text) grown += c == ' ' ? kEscapedSpace - 1 : 0;
    return grown <= most && valid_utf8(text);
  }

  // Whether no way from here has a circle, or more keys that end on it than there is room for.
  bool check_matches(uint32_t base, uint32_t depth) {
    if (matches_.empty()) matches_.assign(trie_.size(), kNotYet);
    if (depth > kLongestKey) return false;
    matches_[base] = kUnderWay;
    uint8_t most = 0;
    for (uint32_t child = first_[base]; child != kNone; child = next_[child]) {
      const uint32_t below = trie_.base(child);
      if (matches_[below] == kUnderWay) return false;
      if (matches_[below] == kNotYet && !check_matches(below, depth + 1)) return false;
      const auto here = static_cast<uint8_t>(matches_[below] + (trie_.ends_key(child) ? 1 : 0));
      if (here > kMostMatches) return false;
      most = std::max(most, here);
    }
    matches_[base] = most;
    return true;
  }

  static constexpr uint8_t kNotYet = 255, kUnderWay = 254;

  Trie trie_;
  std::string_view texts_;
  std::vector<uint32_t> first_, next_;  // kNone at the end
  std::vector<uint8_t> matches_;        // from a base on, at most
};

}  // namespace

std::string_view character_map_fault(std::string_view map) {
  constexpr std::string_view kCutOff = "the character map is cut off";
  if (map.size() > kMostBytes) return "the character map is over 1 MB";
  uint32_t bytes = 0;
  if (map.size() <= sizeof bytes) return kCutOff;
  std::memcpy(&bytes, map.data(), sizeof bytes);
  map.remove_prefix(sizeof bytes);
  const bool whole = bytes > 0 && bytes % (4 * kBlock) == 0 && bytes < map.size();
  if (!whole || map.back() != '\0') return kCutOff;
  return MapCheck(Trie(map.substr(0, bytes)), map.substr(bytes)).fault();
}

}  // namespace attend
