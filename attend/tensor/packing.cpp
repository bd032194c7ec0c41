#include "attend/tensor/packing.h"

#include <algorithm>
#include <limits>

#include "attend/base/error.h"

namespace attend {

Packing::Packing(const std::vector<int32_t>& lengths) {
  std::vector<int32_t> offsets{0};
  offsets.reserve(lengths.size() + 1);
  for (const int32_t length : lengths) {
    if (length < 0)
      throw DataError("packing: sequence {} has length {}", offsets.size() - 1, length);
    if (length > std::numeric_limits<int32_t>::max() - offsets.back()) {
      throw DataError("packing: more than {} rows in a batch", std::numeric_limits<int32_t>::max());
    }
    offsets.push_back(offsets.back() + length);
  }
  offsets_ = std::make_shared<const std::vector<int32_t>>(std::move(offsets));
}

Packing Packing::even(size_t count, size_t length) {
  return Packing(std::vector<int32_t>(count, static_cast<int32_t>(length)));
}

std::vector<int32_t> Packing::lengths() const {
  std::vector<int32_t> all(count());
  for (size_t i = 0; i < count(); ++i) all[i] = static_cast<int32_t>(length(i));
  return all;
}

Packing Packing::pick(std::span<const size_t> sequences) const {
  std::vector<int32_t> picked;
  picked.reserve(sequences.size());
  for (const size_t i : sequences) picked.push_back(static_cast<int32_t>(length(i)));
  return Packing(picked);
}

Packing Packing::followed_by(const Packing& more) const {
  std::vector<int32_t> all = lengths();
  for (size_t i = 0; i < more.count(); ++i) all.push_back(static_cast<int32_t>(more.length(i)));
  return Packing(all);
}

size_t Packing::longest() const {
  size_t longest = 0;
  for (size_t i = 0; i < count(); ++i) longest = std::max(longest, length(i));
  return longest;
}

}  // namespace attend
