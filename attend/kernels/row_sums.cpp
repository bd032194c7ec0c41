#include "attend/kernels/row_sums.h"

#include <algorithm>
#include <bit>

#include "attend/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/row_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

HWY_NOINLINE void AddRow(const float* x, float* y, size_t width) {
  ForLanes(width, [&](size_t i, auto lanes) HWY_ATTR {
    lanes.Store(hn::Add(lanes.Load(y + i), lanes.Load(x + i)), y + i);
  });
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {
namespace {

HWY_EXPORT(AddRow);

constexpr size_t kIdsOfPart = 512, kMostParts = 16;
// Rows that share a cache line of what is known belong to one part.
constexpr size_t kRowsTogether = 16;

}  // namespace

void RowSums::add_up(std::span<const int32_t> ids, MutableRows values, size_t table_rows) {
  values_ = values;
  if (known_.size() < table_rows) known_.resize(table_rows);
  parts_.resize(std::bit_floor(std::clamp<size_t>(ids.size() / kIdsOfPart, 1, kMostParts)));
  const size_t mask = parts_.size() - 1;
  const auto add_row = HWY_DYNAMIC_DISPATCH(AddRow);
  parallel_chunks(parts_.size(), [&](size_t p) {
    Part& part = parts_[p];
    part.rows.clear();
    part.places.clear();
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto row = static_cast<uint32_t>(ids[i]);
      if ((row / kRowsTogether & mask) != p) continue;
      const uint32_t known = known_[row];
      if (known < part.rows.size() && part.rows[known] == row) {
        add_row(values.row(i), values.row(part.places[known]), values.width);
        continue;
      }
      known_[row] = static_cast<uint32_t>(part.rows.size());
      part.rows.push_back(row);
      part.places.push_back(static_cast<uint32_t>(i));
    }
  });
  rows_.clear();
  places_.clear();
  for (const Part& part : parts_) {
    rows_.insert(rows_.end(), part.rows.begin(), part.rows.end());
    places_.insert(places_.end(), part.places.begin(), part.places.end());
  }
}

}  // namespace attend::kernels
#endif
