// Merges of byte pair encoding (Sennrich et al., 2016), applied to a word in the order of their
// ranks. Not for use outside text/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attend {

// Two neighbours that become one.
struct PairMerge {
  int32_t left = 0, right = 0, made = 0;
};

class PairMerges {
 public:
  PairMerges() = default;
  // In the order of their ranks, no pair twice.
  explicit PairMerges(std::span<const PairMerge> merges);

  // Applies to ids[from ..], again and again, the merge of the lowest rank, the leftmost first. The
  // time is linear in their number, but for a logarithm.
  void apply(std::vector<int32_t>& ids, size_t from) const;

 private:
  struct Slot {
    uint64_t pair = kFree;
    uint64_t merge = 0;  // the rank above what is made
  };
  static constexpr uint64_t kFree = UINT64_MAX, kNone = UINT64_MAX;

  // Orders by rank; kNone if there is no such merge.
  uint64_t find(int32_t left, int32_t right) const;
  void apply_to_few(std::vector<int32_t>& ids, size_t from) const;
  void apply_to_many(std::vector<int32_t>& ids, size_t from) const;
  size_t slot_of(uint64_t pair) const;

  std::vector<Slot> slots_;  // a power of two
};

}  // namespace attend
