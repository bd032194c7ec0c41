// Finds the longest piece that a text begins with. Not for use outside text/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// Pieces that begin a word, and those that continue one: a text has an id as either.
class PieceTable {
 public:
  struct Match {
    int32_t id = -1;   // -1: none
    size_t bytes = 0;  // of the text
  };

  static constexpr size_t kLongestPiece = 512;  // bytes; longer ones are never found

  // Adds a text, which must outlive the table; false if it is there.
  bool add(std::string_view text, bool continues, int32_t id);
  Match longest(std::string_view text, bool continues) const;

 private:
  struct Piece {
    std::string_view text;
    int32_t id = -1;
    bool continues = false;
  };
  struct Slot {
    uint32_t hash = 0;
    uint32_t piece = 0;  // its number, from 1; 0: free
  };

  static uint64_t start(bool continues);
  static uint64_t step(uint64_t hash, char c);
  size_t slot_of(uint64_t hash) const { return (hash ^ (hash >> 29)) & (slots_.size() - 1); }
  const Piece* find(uint64_t hash, std::string_view text, bool continues) const;
  void put(uint64_t hash, uint32_t piece);
  void grow();

  std::vector<Piece> pieces_;
  std::vector<Slot> slots_;  // a power of two
  size_t longest_ = 0;
};

}  // namespace attend
