#include "attend/metrics/ngrams.h"

#include <algorithm>
#include <bit>

namespace attend {

std::vector<uint32_t> WordNumbers::operator()(std::span<const std::string_view> words) {
  std::vector<uint32_t> numbers;
  numbers.reserve(words.size());
  for (const std::string_view word : words) {
    const auto next = static_cast<uint32_t>(numbers_.size());
    numbers.push_back(numbers_.try_emplace(std::string(word), next).first->second);
  }
  return numbers;
}

void NgramMatcher::add_reference(std::span<const uint32_t> symbols) {
  ++references_;
  for (size_t begin = 0; begin < symbols.size(); ++begin) {
    uint32_t number = 0;
    for (const uint32_t symbol : symbols.subspan(begin, std::min(order_, symbols.size() - begin))) {
      number = insert(number, symbol);
      Node& node = nodes_[number];
      if (node.reference != references_) {
        node.reference = references_;
        node.count = 0;
      }
      node.available = std::max(node.available, ++node.count);
    }
  }
}

std::vector<uint64_t> NgramMatcher::match(std::span<const uint32_t> hypothesis) {
  std::vector<uint64_t> matches(order_);
  for (size_t begin = 0; begin < hypothesis.size(); ++begin) {
    uint64_t number = 0;
    const size_t longest = std::min(order_, hypothesis.size() - begin);
    for (size_t n = 0; n < longest; ++n) {
      number = *slot(number << 32 | hypothesis[begin + n]);
      if (number == 0) break;
      Node& node = nodes_[number];
      if (node.available == 0) continue;
      --node.available;
      ++matches[n];
    }
  }
  return matches;
}

uint32_t NgramMatcher::insert(uint32_t parent, uint32_t symbol) {
  const uint64_t edge = uint64_t{parent} << 32 | symbol;
  uint32_t* found = slot(edge);
  if (*found != 0) return *found;
  const auto number = static_cast<uint32_t>(nodes_.size());
  *found = number;
  nodes_.push_back({.edge = edge});
  if (nodes_.size() * 2 > slots_.size()) grow();
  return number;
}

// Where the edge's node is noted, or the free slot where it belongs.
uint32_t* NgramMatcher::slot(uint64_t edge) {
  const size_t mask = slots_.size() - 1;
  const int shift = 64 - std::countr_zero(slots_.size());
  for (size_t i = edge * 0x9e3779b97f4a7c15 >> shift;; i = (i + 1) & mask) {
    if (slots_[i] == 0 || nodes_[slots_[i]].edge == edge) return &slots_[i];
  }
}

void NgramMatcher::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (uint32_t number = 1; number < nodes_.size(); ++number) *slot(nodes_[number].edge) = number;
}

}  // namespace attend
