#include "attend/ops/recurrent_schedule.h"

#include <algorithm>
#include <numeric>

namespace attend {
namespace {

std::vector<int32_t> longest_first(const Packing& packing) {
  std::vector<int32_t> order(packing.count());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](int32_t sequence) {
    return packing.length(static_cast<size_t>(sequence));
  });
  return order;
}

bool counts_up(const std::vector<int32_t>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != static_cast<int32_t>(i)) return false;
  }
  return true;
}

}  // namespace

RecurrentSchedule::RecurrentSchedule(const Packing& packing, bool reverse)
    : sequences(longest_first(packing)), last(packing.count(), -1) {
  const auto sequence = [&](size_t slot) { return static_cast<size_t>(sequences[slot]); };
  rows.reserve(packing.rows());
  for (size_t t = 0, live = packing.count();; ++t) {
    while (live > 0 && packing.length(sequence(live - 1)) <= t) --live;
    if (live == 0) break;
    steps.push_back({rows.size(), live});
    for (size_t slot = 0; slot < live; ++slot) {
      last[slot] = static_cast<int32_t>(rows.size());
      const size_t i = sequence(slot);
      rows.push_back(static_cast<int32_t>(reverse ? packing.end(i) - 1 - t : packing.begin(i) + t));
    }
  }
}

bool RecurrentSchedule::in_place() const { return counts_up(rows) && counts_up(sequences); }

std::vector<RecurrentSchedule::Slots> RecurrentSchedule::parts(size_t count) const {
  std::vector<size_t> rows_of(sequences.size(), 0);
  for (const Step& step : steps) {
    for (size_t slot = 0; slot < step.rows; ++slot) ++rows_of[slot];
  }
  std::vector<Slots> runs;
  for (size_t slot = 0, begin = 0, done = 0; slot < sequences.size(); ++slot) {
    done += rows_of[slot];
    const bool full = runs.size() + 1 < count && done >= rows.size() * (runs.size() + 1) / count;
    if (!full && slot + 1 < sequences.size()) continue;
    runs.push_back({begin, slot + 1});
    begin = slot + 1;
  }
  return runs;
}

}  // namespace attend
