// Transposed copies, in blocks that are turned in registers.
#include "attend/kernels/transpose.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/transpose.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace {

// Four columns of rows 0, 4, 8 ..., one row to each 128-bit block of the register.
template <typename DN>
HWY_INLINE hn::Vec<DN> LoadBlocks(DN d, const float* x, size_t stride) {
  if constexpr (hn::MaxLanes(DN()) == 4) {
    return hn::LoadU(d, x);
  } else {
    const hn::Half<DN> half;
    const size_t rows = hn::MaxLanes(half);
    return hn::Combine(d, LoadBlocks(half, x + rows * stride, stride), LoadBlocks(half, x, stride));
  }
}

// y[j, 0 ...] = x[0 ..., j] for four columns j and as many rows as a register has lanes.
// Interleaving works within blocks, and so turns 4 x 4 in each of them.
HWY_INLINE void Turn(const float* x, size_t x_stride, float* y, size_t y_stride, bool add) {
  const D d;
  const V r0 = LoadBlocks(d, x, x_stride), r1 = LoadBlocks(d, x + x_stride, x_stride);
  const V r2 = LoadBlocks(d, x + 2 * x_stride, x_stride);
  const V r3 = LoadBlocks(d, x + 3 * x_stride, x_stride);
  const V a = hn::InterleaveLower(d, r0, r2), b = hn::InterleaveUpper(d, r0, r2);
  const V c = hn::InterleaveLower(d, r1, r3), e = hn::InterleaveUpper(d, r1, r3);
  const auto put = [&](V v, float* to) {
    hn::StoreU(add ? hn::Add(v, hn::LoadU(d, to)) : v, d, to);
  };
  put(hn::InterleaveLower(d, a, c), y);
  put(hn::InterleaveUpper(d, a, c), y + y_stride);
  put(hn::InterleaveLower(d, b, e), y + 2 * y_stride);
  put(hn::InterleaveUpper(d, b, e), y + 3 * y_stride);
}

// Rows [i, i_end) of x, all of its columns.
HWY_NOINLINE void TurnRows(Rows x, MutableRows y, size_t i, size_t i_end, bool add) {
  const size_t lanes = hn::Lanes(D());
  const auto single = [&](size_t row, size_t column) {
    float& to = y.row(column)[row];
    to = add ? to + x.row(row)[column] : x.row(row)[column];
  };
  size_t j = 0;
  for (; j + 4 <= x.width; j += 4) {
    size_t row = i;
    for (; row + lanes <= i_end; row += lanes) {
      Turn(x.row(row) + j, x.stride, y.row(j) + row, y.stride, add);
    }
    for (; row < i_end; ++row) {
      for (size_t column = j; column < j + 4; ++column) single(row, column);
    }
  }
  for (; j < x.width; ++j) {
    for (size_t row = i; row < i_end; ++row) single(row, j);
  }
}

void Transpose(Rows x, MutableRows y, bool add) {
  // Sixteen rows fill whole cache lines of y.
  constexpr size_t kRows = 16;
  const size_t grain = (RowGrain(x.width) + kRows - 1) / kRows * kRows;
  parallel_for(x.count, grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; i += kRows) TurnRows(x, y, i, std::min(i + kRows, end), add);
  });
}

}  // namespace
}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Transpose);

void transpose(Rows x, MutableRows y, bool add) { HWY_DYNAMIC_DISPATCH(Transpose)(x, y, add); }

}  // namespace attend::kernels
#endif
