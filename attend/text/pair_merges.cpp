#include "attend/text/pair_merges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <queue>

namespace attend {
namespace {

constexpr size_t kFew = 64;  // where looking for the best pair again is fastest

uint64_t pair_of(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

int32_t made_by(uint64_t merge) { return static_cast<int32_t>(merge & 0xFFFFFFFFu); }

}  // namespace

PairMerges::PairMerges(std::span<const PairMerge> merges)
    : slots_(std::bit_ceil(2 * merges.size() + 2)) {
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const PairMerge& merge = merges[rank];
    const uint64_t pair = pair_of(merge.left, merge.right);
    size_t at = slot_of(pair);
    while (slots_[at].pair != kFree) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {pair, rank << 32 | static_cast<uint32_t>(merge.made)};
  }
}

size_t PairMerges::slot_of(uint64_t pair) const {
  const uint64_t hash = pair * 0x9E3779B97F4A7C15u;
  return (hash ^ (hash >> 32)) & (slots_.size() - 1);
}

uint64_t PairMerges::find(int32_t left, int32_t right) const {
  const uint64_t pair = pair_of(left, right);
  for (size_t at = slot_of(pair);; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].pair == pair) return slots_[at].merge;
    if (slots_[at].pair == kFree) return kNone;
  }
}

void PairMerges::apply(std::vector<int32_t>& ids, size_t from) const {
  if (slots_.empty() || ids.size() - from < 2) return;
  ids.size() - from <= kFew ? apply_to_few(ids, from) : apply_to_many(ids, from);
}

void PairMerges::apply_to_few(std::vector<int32_t>& ids, size_t from) const {
  int32_t* const id = ids.data() + from;
  size_t count = ids.size() - from;
  std::array<uint64_t, kFew> merges;  // of each id with the next
  for (size_t i = 0; i + 1 < count; ++i) merges[i] = find(id[i], id[i + 1]);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) best = merges[i] < merges[best] ? i : best;
    if (merges[best] == kNone) break;
    id[best] = made_by(merges[best]);
    std::copy(id + best + 2, id + count, id + best + 1);
    for (size_t i = best + 1; i + 2 < count; ++i) merges[i] = merges[i + 1];
    --count;
    if (best > 0) merges[best - 1] = find(id[best - 1], id[best]);
    if (best + 1 < count) merges[best] = find(id[best], id[best + 1]);
  }
  ids.resize(from + count);
}

void PairMerges::apply_to_many(std::vector<int32_t>& ids, size_t from) const {
  // A list of neighbours; a pair that was merged away is met later and passed over.
  struct Link {
    int32_t id;
    uint32_t before, after;
  };
  struct Candidate {
    uint64_t merge;
    uint32_t at;
    int32_t left, right;
    bool operator>(const Candidate& other) const {
      return merge != other.merge ? merge > other.merge : at > other.at;
    }
  };
  constexpr uint32_t kNobody = UINT32_MAX;
  constexpr int32_t kGone = -1;
  const auto count = static_cast<uint32_t>(ids.size() - from);
  std::vector<Link> links(count);
  for (uint32_t i = 0; i < count; ++i) {
    links[i] = {ids[from + i], i == 0 ? kNobody : i - 1, i + 1 == count ? kNobody : i + 1};
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> waiting;
  const auto consider = [&](uint32_t at) {
    if (at == kNobody || links[at].after == kNobody) return;
    const int32_t left = links[at].id, right = links[links[at].after].id;
    const uint64_t merge = find(left, right);
    if (merge != kNone) waiting.push({merge, at, left, right});
  };
  for (uint32_t i = 0; i < count; ++i) consider(i);
  while (!waiting.empty()) {
    const Candidate best = waiting.top();
    waiting.pop();
    Link& left = links[best.at];
    if (left.id != best.left || left.after == kNobody || links[left.after].id != best.right)
      continue;
    Link& right = links[left.after];
    left.id = made_by(best.merge);
    left.after = right.after;
    right.id = kGone;
    if (left.after != kNobody) links[left.after].before = best.at;
    consider(left.before);
    consider(best.at);
  }
  size_t kept = from;
  for (uint32_t i = 0; i != kNobody; i = links[i].after) ids[kept++] = links[i].id;
  ids.resize(kept);
}

}  // namespace attend
