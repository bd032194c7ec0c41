// Clipped n-gram matches, which BLEU counts over words and chrF over characters as well. Not for
// use outside metrics/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace attend {

// Numbers words in the order of their first appearance.
class WordNumbers {
 public:
  std::vector<uint32_t> operator()(std::span<const std::string_view> words);

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
};

// A trie of the n-grams of one line's references, up to an order. Its edges are in one hash table
// under (node, symbol), so that equal n-grams meet without being hashed, copied or compared whole.
class NgramMatcher {
 public:
  explicit NgramMatcher(size_t order) : order_(order), nodes_(1), slots_(64) {}

  void add_reference(std::span<const uint32_t> symbols);

  // How many n-grams of the hypothesis are in a reference, one count an order; each as often as it
  // is in the reference that has it most often. To be called once: it uses the matches up.
  std::vector<uint64_t> match(std::span<const uint32_t> hypothesis);

 private:
  struct Node {
    uint64_t edge = 0;       // parent << 32 | symbol
    uint32_t reference = 0;  // the reference, from 1, that `count` is of
    uint32_t count = 0;
    uint32_t available = 0;  // the largest count of any reference, less the matches so far
  };

  uint32_t* slot(uint64_t edge);
  uint32_t insert(uint32_t parent, uint32_t symbol);
  void grow();

  size_t order_;
  uint32_t references_ = 0;
  std::vector<Node> nodes_;      // the root first
  std::vector<uint32_t> slots_;  // numbers of nodes, 0 where free; a power of two of them
};

// The number of n-grams of order n in `length` symbols.
inline uint64_t ngram_count(uint64_t length, uint64_t n) {
  return length >= n ? length - n + 1 : 0;
}

}  // namespace attend
