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

// sum = a + b.
HWY_NOINLINE void SumOfRows(const float* a, const float* b, float* sum, size_t width) {
  ForLanes(width, [&](size_t i, auto lanes) HWY_ATTR {
    lanes.Store(hn::Add(lanes.Load(a + i), lanes.Load(b + i)), sum + i);
  });
}

// y = factor x; or y += factor x where `add`.
HWY_NOINLINE void ScaledRow(float factor, const float* x, float* y, size_t width, bool add) {
  const V f = hn::Set(D(), factor);
  if (add) {
    ForLanes(width, [&](size_t i, auto lanes) HWY_ATTR {
      lanes.Store(hn::MulAdd(f, lanes.Load(x + i), lanes.Load(y + i)), y + i);
    });
  } else {
    ForLanes(width, [&](size_t i, auto lanes)
                        HWY_ATTR { lanes.Store(hn::Mul(f, lanes.Load(x + i)), y + i); });
  }
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {
namespace {

HWY_EXPORT(SumOfRows);
HWY_EXPORT(ScaledRow);

constexpr size_t kIdsOfPart = 512, kMostParts = 16;
// Rows that share a cache line of what is known belong to one part.
constexpr size_t kRowsTogether = 16;
constexpr uint32_t kSummed = uint32_t{1} << 31;

}  // namespace

float* RowSums::Part::new_sum(size_t width) {
  if (sums.size() < (used + 1) * width) sums.resize(2 * (used + 1) * width);
  return sums.data() + used++ * width;
}

template <typename First, typename Add>
void RowSums::add_up_parts(std::span<const int32_t> ids, Rows values, size_t table_rows,
                           const First& first, const Add& add) {
  if (known_.size() < table_rows) known_.resize(table_rows);
  parts_.resize(std::bit_floor(std::clamp<size_t>(ids.size() / kIdsOfPart, 1, kMostParts)));
  const size_t mask = parts_.size() - 1;
  for (Part& part : parts_) part.occurrences.clear();
  for (size_t i = 0; i < ids.size(); ++i) {
    const size_t p = static_cast<uint32_t>(ids[i]) / kRowsTogether & mask;
    parts_[p].occurrences.push_back(static_cast<uint32_t>(i));
  }
  parallel_chunks(parts_.size(), [&](size_t p) {
    Part& part = parts_[p];
    part.rows.clear();
    part.places.clear();
    part.used = 0;
    for (const uint32_t i : part.occurrences) {
      const auto row = static_cast<uint32_t>(ids[i]);
      const uint32_t known = known_[row];
      if (known < part.rows.size() && part.rows[known] == row) {
        add(part, part.places[known], i);
        continue;
      }
      known_[row] = static_cast<uint32_t>(part.rows.size());
      part.rows.push_back(row);
      part.places.push_back(first(part, i));
    }
  });
  rows_.clear();
  sums_.clear();
  for (const Part& part : parts_) {
    rows_.insert(rows_.end(), part.rows.begin(), part.rows.end());
    for (const uint32_t place : part.places) {
      sums_.push_back(place < kSummed ? values.row(place)
                                      : part.sums.data() + (place - kSummed) * values.width);
    }
  }
}

void RowSums::add_up(std::span<const int32_t> ids, Rows values, size_t table_rows) {
  const auto sum_of_rows = HWY_DYNAMIC_DISPATCH(SumOfRows);
  add_up_parts(
      ids, values, table_rows, [](Part&, uint32_t i) { return i; },
      [&](Part& part, uint32_t& place, size_t i) {
        if (place < kSummed) {
          const float* const one = values.row(place);
          place = kSummed + static_cast<uint32_t>(part.used);
          sum_of_rows(one, values.row(i), part.new_sum(values.width), values.width);
          return;
        }
        float* const sum = part.sums.data() + (place - kSummed) * values.width;
        sum_of_rows(sum, values.row(i), sum, values.width);
      });
}

void RowSums::add_up(std::span<const int32_t> ids, std::span<const float> factors,
                     std::span<const int32_t> sources, Rows values, size_t table_rows) {
  const auto scaled_row = HWY_DYNAMIC_DISPATCH(ScaledRow);
  const auto source = [&](size_t i) { return values.row(static_cast<size_t>(sources[i])); };
  add_up_parts(
      ids, values, table_rows,
      [&](Part& part, size_t i) {
        const auto place = kSummed + static_cast<uint32_t>(part.used);
        scaled_row(factors[i], source(i), part.new_sum(values.width), values.width, false);
        return place;
      },
      [&](Part& part, uint32_t place, size_t i) {
        scaled_row(factors[i], source(i), part.sums.data() + (place - kSummed) * values.width,
                   values.width, true);
      });
}

}  // namespace attend::kernels
#endif
