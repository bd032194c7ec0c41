// What the words of a text are trained to predict: windows of random reach, after frequent words
// were left out at random, with words drawn that are wrong (Mikolov et al., 2013), or with the path
// to a word in a Huffman tree. Not for use outside train/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/base/rng.h"
#include "attend/data/tokens.h"
#include "attend/models/model.h"
#include "attend/ops/word_context.h"

namespace attend {

// Draws numbers below a bound with given weights, each in constant time (Walker, 1977).
class AliasTable {
 public:
  AliasTable() = default;
  explicit AliasTable(std::span<const double> weights);  // not all zero

  size_t size() const { return other_.size(); }
  // The number for 32 random bits.
  uint32_t draw(uint32_t random) const {
    const uint64_t product = uint64_t{random} * other_.size();
    const auto place = static_cast<uint32_t>(product >> 32);
    return static_cast<uint32_t>(product) < stays_[place] ? place : other_[place];
  }

 private:
  std::vector<uint32_t> stays_, other_;  // the chance that a number stays itself, in 2^-32
};

// Binary codes of words: frequent ones are short (Huffman, 1952).
struct HuffmanTree {
  std::vector<uint32_t> first;  // of each word, in the lists below, and the size of these
  std::vector<int32_t> nodes;   // inner nodes from the root on; there is one less than words
  std::vector<float> signs;     // -1 to go to the first child, 1 to the second

  HuffmanTree() = default;
  explicit HuffmanTree(std::span<const double> weights);
};

class WordSampler {
 public:
  WordSampler() = default;
  // counts[i] is how often id i occurs in the text; ids below `first` stand for no word.
  WordSampler(std::span<const uint64_t> counts, size_t first, const WordContextSettings& settings);

  // Of a batch of texts: the ids that stay, and what is predicted at each.
  struct Drawn {
    std::vector<int32_t> ids;
    WordWindows windows;
  };
  Drawn draw(const Tokens& texts, RandomStream random) const;

  double keep_chance(size_t id) const { return static_cast<double>(keep_[id]) * 0x1p-32; }
  const AliasTable& negatives() const { return negatives_; }
  const HuffmanTree& tree() const { return tree_; }

 private:
  void add_words(const Tokens& texts, RandomStream random, Drawn& drawn) const;
  void add_negatives(RandomStream random, Drawn& drawn) const;
  void add_paths(Drawn& drawn) const;

  WordContextSettings settings_;
  size_t first_ = 0;
  std::vector<uint64_t> keep_;  // chance of each id, in 2^-32
  AliasTable negatives_;        // numbers of words: ids - first
  HuffmanTree tree_;
};

}  // namespace attend
