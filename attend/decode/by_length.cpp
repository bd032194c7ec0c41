#include "attend/decode/by_length.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace attend {

std::vector<std::vector<size_t>> batches_by_length(std::span<const size_t> lengths, size_t most) {
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return lengths[i]; });
  std::vector<std::vector<size_t>> batches;
  size_t tokens = 0;
  for (const size_t i : order) {
    if (batches.empty() || tokens + lengths[i] > most) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(i);
    tokens += lengths[i];
  }
  return batches;
}

}  // namespace attend
