// Learns which pieces to join from the words of a text. Not for use outside text/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attend/text/pair_merges.h"

namespace attend {

// How often each word occurs. Of a text with millions of different words, the rarest are forgotten:
// the memory is bounded.
class WordCounts {
 public:
  void add(std::string_view word);
  // In the order of their bytes.
  std::vector<std::pair<std::string, uint64_t>> sorted() &&;

 private:
  static constexpr size_t kMost = size_t{1} << 22;

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, uint64_t, Hash, std::equal_to<>> counts_;
  uint64_t forgotten_ = 0;
};

// A word in pieces that are known by their numbers.
struct CountedWord {
  std::vector<int32_t> pieces;
  uint64_t count = 0;
};

struct PairLearning {
  size_t most_pieces = 0;      // in all
  uint64_t least_count = 2;    // of a pair
  std::string_view continues;  // how a piece inside a word begins, which is left out where joined
};

// Joins the most frequent pair of neighbours, again and again; of pairs that are as frequent, the
// one of the lowest numbers. Pieces that are made are added to `pieces`, unless their text is
// there.
std::vector<PairMerge> learn_pairs(std::vector<CountedWord> words, std::vector<std::string>& pieces,
                                   const PairLearning& learning);

}  // namespace attend
