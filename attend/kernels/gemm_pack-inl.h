// Packing: the right-hand side into panels of two registers, the left-hand side into tiles of
// interleaved rows; included once for each SIMD target.
#if defined(ATTEND_KERNELS_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_GEMM_PACK_INL_H_
#undef ATTEND_KERNELS_GEMM_PACK_INL_H_
#else
#define ATTEND_KERNELS_GEMM_PACK_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "attend/kernels/gemm_block.h"
#include "attend/kernels/loops-inl.h"
#include "attend/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kLanes = HWY_LANES(float);
constexpr size_t kPanel = 2 * kLanes;

// Tiles of the packed left-hand side lie this far apart: not at a power of two, so that they do not
// compete for the same cache sets, and with room for the filler of their last column.
constexpr size_t kLeftTile = kTileRows * kSumBlock + 16;

// The rows of a matrix; an array of pointers to rows does as well.
struct EvenRows {
  const float* data;
  size_t stride;
  HWY_INLINE const float* operator[](size_t i) const { return data + i * stride; }
};

// Four floats from each of rows[first], rows[first + 4], rows[first + 8] ..., one a 128-bit block.
template <class DT, class Rows>
HWY_INLINE hn::Vec<DT> LoadBlocks(DT d, const Rows& rows, size_t first, size_t offset) {
  constexpr size_t kSize = hn::MaxLanes(DT());
  if constexpr (kSize <= 4) {
    return hn::LoadU(d, rows[first] + offset);
  } else {
    const hn::Half<DT> half;
    return hn::Combine(d, LoadBlocks(half, rows, first + kSize / 2, offset),
                       LoadBlocks(half, rows, first, offset));
  }
}

// Columns offset .. offset + 3 of as many rows as d has lanes, from the first, each column in a
// register: a 4 x 4 transpose in every 128-bit block.
template <class DT>
struct FourColumns {
  hn::Vec<DT> c0, c1, c2, c3;
};
template <class DT, class Rows>
HWY_INLINE FourColumns<DT> LoadColumns(DT d, const Rows& rows, size_t first, size_t offset) {
  const hn::Repartition<uint64_t, DT> pairs;
  const auto r0 = LoadBlocks(d, rows, first, offset), r1 = LoadBlocks(d, rows, first + 1, offset);
  const auto r2 = LoadBlocks(d, rows, first + 2, offset),
             r3 = LoadBlocks(d, rows, first + 3, offset);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  return {hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)),
          hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)),
          hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)),
          hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23))};
}

template <class DT>
HWY_INLINE void StoreColumns(DT d, const FourColumns<DT>& columns, float* to, size_t stride) {
  hn::StoreU(columns.c0, d, to);
  hn::StoreU(columns.c1, d, to + stride);
  hn::StoreU(columns.c2, d, to + 2 * stride);
  hn::StoreU(columns.c3, d, to + 3 * stride);
}

// to[i * stride + r] = rows[r][i] for i < size, r < kLanes.
template <class Rows>
HWY_INLINE void TransposeRows(const Rows& rows, size_t size, float* to, size_t stride) {
  const D d;
  size_t i = 0;
  for (; i + 4 <= size; i += 4)
    StoreColumns(d, LoadColumns(d, rows, 0, i), to + i * stride, stride);
  for (; i < size; ++i) {
    for (size_t r = 0; r < kLanes; ++r) to[i * stride + r] = rows[r][i];
  }
}

// Short pieces of long rows are too far apart for the hardware to foresee.
constexpr size_t kRowsAhead = 8;
HWY_INLINE void PrefetchRow(const float* row, size_t size) {
  for (size_t i = 0; i < size; i += 64 / sizeof(float)) __builtin_prefetch(row + i);
}

// One panel from b stored by columns: `columns` runs of k floats, transposed.
inline HWY_NOINLINE void PackPanelTransposed(size_t k, const float* b, size_t stride,
                                             size_t columns, float* panel) {
  for (size_t half = 0; half < kPanel; half += kLanes) {
    const float* rows[kLanes];  // past the last column it is repeated: filler
    for (size_t r = 0; r < kLanes; ++r) rows[r] = b + std::min(half + r, columns - 1) * stride;
    TransposeRows(rows, k, panel + half, kPanel);
  }
}

// Panels from b stored by rows: a row at a time, for the sake of memory's order.
inline HWY_NOINLINE void PackPanelsPlain(size_t k, const float* b, size_t stride, size_t columns,
                                         float* panels, size_t panel_step) {
  const D d;
  for (size_t i = 0; i < k; ++i) {
    const float* row = b + i * stride;
    PrefetchRow(row + kRowsAhead * stride, columns);
    float* to = panels + i * kPanel;
    size_t j = 0;
    for (; j + kPanel <= columns; j += kPanel, to += panel_step) {
      hn::Store(hn::LoadU(d, row + j), d, to);
      hn::Store(hn::LoadU(d, row + j + kLanes), d, to + kLanes);
    }
    if (j < columns) {
      for (size_t r = 0; r < kPanel; ++r) to[r] = j + r < columns ? row[j + r] : 0.0f;
    }
  }
}

// Rows [sum, sum + size) of b, columns [column, column + columns), into panels panel_step apart.
HWY_INLINE void PackRight(const Matrix& b, size_t sum, size_t size, size_t column, size_t columns,
                          float* panels, size_t panel_step) {
  if (!b.transposed) {
    PackPanelsPlain(size, b.data + sum * b.stride + column, b.stride, columns, panels, panel_step);
    return;
  }
  for (size_t j = 0; j < columns; j += kPanel, panels += panel_step) {
    for (size_t i = j + kPanel; i < std::min(columns, j + 2 * kPanel); ++i)
      PrefetchRow(b.data + (column + i) * b.stride + sum, size);
    PackPanelTransposed(size, b.data + (column + j) * b.stride + sum, b.stride,
                        std::min(kPanel, columns - j), panels);
  }
}

// The rows of a, cut into tiles as even as can be: 32 rows are six tiles of 5 or 6, for a tile of 2
// would take as long as one of 4.
struct TileRows {
  explicit TileRows(size_t m)
      : rows(m), count((m + kTileRows - 1) / kTileRows), least(m / count), larger(m % count) {}
  HWY_INLINE size_t begin(size_t tile) const { return tile * least + std::min(tile, larger); }

  size_t rows, count;
  size_t least, larger;  // rows of a tile, and how many of the first tiles have one more
};

// A column of a packed tile is written by registers of this kind: the narrowest that hold it, for
// what they write past it is written again.
using TileColumn = hn::CappedTag<float, 8>;
constexpr size_t kColumnLanes = hn::MaxLanes(TileColumn());
constexpr size_t kColumnRegisters = (kTileRows + kColumnLanes - 1) / kColumnLanes;

// kTileRows rows beside each other: to[k * kTileRows + r] = lines[r][k]. Each store writes a
// column, and filler that the next one covers; the last one reaches a register past the end.
inline HWY_NOINLINE void InterleaveRows(const float* const (&lines)[kTileRows], size_t size,
                                        float* to) {
  const TileColumn d;
  const float* all[kColumnRegisters * kColumnLanes];  // past the last line it is repeated
  for (size_t r = 0; r < std::size(all); ++r) all[r] = lines[std::min(r, kTileRows - 1)];
  size_t k = 0;
  for (; k + 4 <= size; k += 4, to += 4 * kTileRows) {
    // Not an array of FourColumns, for which GCC compiles no constructor for NEON.
    hn::Vec<TileColumn> columns[4][kColumnRegisters];
#pragma GCC unroll 2
    for (size_t h = 0; h < kColumnRegisters; ++h) {
      const auto rows = LoadColumns(d, all, h * kColumnLanes, k);
      columns[0][h] = rows.c0;
      columns[1][h] = rows.c1;
      columns[2][h] = rows.c2;
      columns[3][h] = rows.c3;
    }
#pragma GCC unroll 4
    for (size_t c = 0; c < 4; ++c) {
#pragma GCC unroll 2
      for (size_t h = 0; h < kColumnRegisters; ++h) {
        hn::StoreU(columns[c][h], d, to + c * kTileRows + h * kColumnLanes);
      }
    }
  }
  for (; k < size; ++k, to += kTileRows) {
    for (size_t r = 0; r < kTileRows; ++r) to[r] = lines[r][k];
  }
}

// Tiles from a stored by columns: a column at a time, for the sake of memory's order. Only the last
// tiles lack the room to read whole registers.
inline HWY_NOINLINE void PackLeftTransposed(const float* a, size_t stride, const TileRows& tiles,
                                            size_t size, float* to, size_t tile_step) {
  const TileColumn d;
  constexpr size_t kReach = kColumnRegisters * kColumnLanes;
  size_t whole = tiles.count;
  while (whole > 0 && tiles.begin(whole - 1) + kReach > tiles.rows) --whole;
  for (size_t k = 0; k < size; ++k, a += stride, to += kTileRows) {
    PrefetchRow(a + kRowsAhead * stride, tiles.rows);
    const float* from = a;
    float* column = to;
    for (size_t t = 0; t < whole; ++t, column += tile_step) {
#pragma GCC unroll 2
      for (size_t r = 0; r < kReach; r += kColumnLanes) {
        hn::StoreU(hn::LoadU(d, from + r), d, column + r);
      }
      from += tiles.least + (t < tiles.larger ? 1 : 0);
    }
    for (size_t t = whole; t < tiles.count; ++t, column += tile_step) {
      const size_t row = tiles.begin(t);
      for (size_t r = 0; r < kTileRows; ++r) column[r] = row + r < tiles.rows ? a[row + r] : 0.0f;
    }
  }
}

// Columns [sum, sum + size) of a into (tile, size, kTileRows), tiles kLeftTile apart.
HWY_INLINE void PackLeft(const Matrix& a, const TileRows& tiles, size_t sum, size_t size,
                         float* to) {
  if (a.transposed) {
    PackLeftTransposed(a.data + sum * a.stride, a.stride, tiles, size, to, kLeftTile);
    return;
  }
  for (size_t t = 0; t < tiles.count; ++t) {
    const size_t row = tiles.begin(t), last = tiles.begin(t + 1) - 1;
    const float* lines[kTileRows];  // past the last row it is repeated
    for (size_t r = 0; r < kTileRows; ++r) {
      lines[r] = a.data + std::min(row + r, last) * a.stride + sum;
    }
    InterleaveRows(lines, size, to + t * kLeftTile);
  }
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
