#include "attend/kernels/embedding.h"

#include <algorithm>
#include <vector>

#include "attend/base/parallel.h"

// What the SIMD loops do with one row.
#ifndef ATTEND_KERNELS_EMBEDDING_ROW
#define ATTEND_KERNELS_EMBEDDING_ROW
namespace attend::kernels {
struct EmbeddingRow {
  const float* x;     // null for zeros
  const float* next;  // fetched meanwhile: rows come in an order that the hardware cannot foresee
  float* y;
  size_t width;
  float scale;
};
}  // namespace attend::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/embedding.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// y = scale x, or y += scale x where `add`.
void ScaleRow(const EmbeddingRow& row, bool add) {
  const V scale = hn::Set(D(), row.scale);
  ForLanes(row.width, [&](size_t i, auto lanes) HWY_ATTR {
    hwy::Prefetch(row.next + i);
    const V base = add ? lanes.Load(row.y + i) : hn::Zero(D());
    lanes.Store(hn::MulAdd(lanes.Load(row.x + i), scale, base), row.y + i);
  });
}

// y = scale x, past the caches, where rows are whole registers. Otherwise returns false.
bool StreamRow(const EmbeddingRow& row) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  if (row.width % lanes != 0 || reinterpret_cast<uintptr_t>(row.y) % (lanes * sizeof(float)) != 0) {
    return false;
  }
  const V scale = hn::Set(d, row.scale);
  for (size_t i = 0; i < row.width; i += lanes) {
    if (row.x == nullptr) {
      hn::Stream(hn::Zero(d), d, row.y + i);
    } else {
      hwy::Prefetch(row.next + i);
      hn::Stream(hn::Mul(hn::LoadU(d, row.x + i), scale), d, row.y + i);
    }
  }
  return true;
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {
namespace {

HWY_EXPORT(ScaleRow);
HWY_EXPORT(StreamRow);

constexpr size_t kGrain = 1 << 14;             // floats that a chunk reads or writes, at least
constexpr size_t kStreamed = size_t{1} << 20;  // floats; a larger table would not stay in the cache

size_t row_grain(size_t width) { return std::max<size_t>(1, kGrain / std::max<size_t>(1, width)); }

// The places of each id, in order: those of id are order[start[id]] .. order[start[id + 1] - 1].
// Memory is kept from call to call.
struct Occurrences {
  std::vector<uint32_t> start, order;

  void sort(std::span<const int32_t> ids, size_t vocab) {
    start.assign(vocab + 2, 0);
    order.resize(ids.size());
    // Counted two places further on, so that filling in leaves each start where it belongs.
    for (const int32_t id : ids) ++start[static_cast<size_t>(id) + 2];
    for (size_t id = 2; id < start.size(); ++id) start[id] += start[id - 1];
    for (size_t i = 0; i < ids.size(); ++i) {
      order[start[static_cast<size_t>(ids[i]) + 1]++] = static_cast<uint32_t>(i);
    }
  }
};

struct TableGradient {
  const Embedding& rows;
  const Occurrences& places;
  const float* dy;
  float* d_table;
  bool add;

  // A row is written but once unless several rows are added up in it.
  void write_row(size_t id) const {
    const size_t begin = places.start[id], end = places.start[id + 1];
    float* to = d_table + id * rows.width;
    const bool stream = !add && end - begin <= 1 && rows.vocab * rows.width >= kStreamed;
    if (begin == end) {
      if (add) return;
      if (stream && HWY_DYNAMIC_DISPATCH(StreamRow)({nullptr, nullptr, to, rows.width, 0.0f}))
        return;
      std::fill(to, to + rows.width, 0.0f);
    }
    for (size_t k = begin; k < end; ++k) {
      const EmbeddingRow row{dy_row(k), dy_row(k + 1), to, rows.width, rows.scale};
      if (stream && HWY_DYNAMIC_DISPATCH(StreamRow)(row)) return;
      HWY_DYNAMIC_DISPATCH(ScaleRow)(row, add || k > begin);
    }
  }
  const float* dy_row(size_t k) const {
    return dy + places.order[std::min(k, places.order.size() - 1)] * rows.width;
  }
};

}  // namespace

void embedding(const Embedding& rows, const float* table, float* y) {
  const auto row_of = [&](size_t i) {
    return table + static_cast<size_t>(rows.ids[std::min(i, rows.ids.size() - 1)]) * rows.width;
  };
  const auto scale_row = HWY_DYNAMIC_DISPATCH(ScaleRow);
  parallel_for(rows.ids.size(), row_grain(rows.width), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      scale_row({row_of(i), row_of(i + 1), y + i * rows.width, rows.width, rows.scale}, false);
    }
  });
}

void embedding_backward(const Embedding& rows, const float* dy, float* d_table, bool add) {
  thread_local Occurrences occurrences;
  occurrences.sort(rows.ids, rows.vocab);
  const TableGradient gradient{rows, occurrences, dy, d_table, add};
  parallel_for(rows.vocab, row_grain(rows.width), [&](size_t begin, size_t end) {
    for (size_t id = begin; id < end; ++id) gradient.write_row(id);
    hwy::FlushStream();
  });
}

size_t first_id_outside(std::span<const int32_t> ids, size_t vocab) {
  // A negative id is a huge one without its sign.
  const auto outside = [&](int32_t id) { return static_cast<size_t>(id) >= vocab; };
  return static_cast<size_t>(std::find_if(ids.begin(), ids.end(), outside) - ids.begin());
}

}  // namespace attend::kernels
#endif
