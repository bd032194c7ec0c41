// Dot products of few queries with many keys, each key read once and in its order; included once
// for each SIMD target.
#if defined(ATTEND_KERNELS_ATTENTION_FEW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_ATTENTION_FEW_INL_H_
#undef ATTEND_KERNELS_ATTENTION_FEW_INL_H_
#else
#define ATTEND_KERNELS_ATTENTION_FEW_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "attend/kernels/gemm.h"
#include "attend/kernels/gemm_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {

// Rows that come next, all heads of a task in each: asked for head by head while others are at
// work, for a burst of requests would be waited for.
struct Ahead {
  const float* row;
  size_t stride, rows, heads, width;
  size_t head = 0;

  HWY_INLINE void Ask() {
    if (rows == 0) return;
    const float* floats = row + head * width;
    for (size_t i = 0; i < width; i += 64 / sizeof(float)) __builtin_prefetch(floats + i, 0, 2);
    if (++head < heads) return;
    head = 0;
    row += stride;
    --rows;
  }
};

// The sum of a register's 128-bit blocks.
using Four = hn::CappedTag<float, 4>;
template <class DT>
HWY_INLINE hn::Vec<Four> SumOfBlocks(DT, hn::Vec<DT> x) {
  if constexpr (hn::MaxLanes(DT()) <= 4) {
    return x;
  } else {
    const hn::Half<DT> half;
    return SumOfBlocks(half, hn::Add(hn::LowerHalf(half, x), hn::UpperHalf(half, x)));
  }
}

// The sums of four registers, one beside the other, in two stages.
HWY_INLINE V SumsOfTwo(V a, V b) {
  return hn::Add(hn::InterleaveLower(D(), a, b), hn::InterleaveUpper(D(), a, b));
}
HWY_INLINE hn::Vec<Four> SumsOfFour(V sums_ab, V sums_cd) {
  const hn::Repartition<double, D> pairs;
  const auto p = hn::BitCast(pairs, sums_ab), q = hn::BitCast(pairs, sums_cd);
  return SumOfBlocks(D(), hn::Add(hn::BitCast(D(), hn::InterleaveLower(pairs, p, q)),
                                  hn::BitCast(D(), hn::InterleaveUpper(pairs, p, q))));
}

// to[r * stride + j] = alpha (row r).(key j), for so many rows that their sums fit into registers,
// and whole registers: each key is read once, in its order. Up to three floats past the last key
// are written.
template <size_t kRows>
HWY_NOINLINE void DotKeys(const float* q, size_t width, const Matrix& k, size_t keys, float alpha,
                          float* to, size_t stride, Ahead& ahead) {
  for (size_t key = 0; key < keys; key += 4) {
    for (size_t j = 0; j < 4; ++j) ahead.Ask();
    const float* rows[4];
    for (size_t j = 0; j < 4; ++j) rows[j] = k.data + std::min(key + j, keys - 1) * k.stride;
    V sum[kRows][4];
#pragma GCC unroll 4
    for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (size_t j = 0; j < 4; ++j) sum[r][j] = hn::Zero(D());
    }
    for (size_t i = 0; i < width; i += kLanes) {
#pragma GCC unroll 4
      for (size_t j = 0; j < 4; ++j) {
        const V x = hn::LoadU(D(), rows[j] + i);
#pragma GCC unroll 4
        for (size_t r = 0; r < kRows; ++r) {
          sum[r][j] = hn::MulAdd(hn::LoadU(D(), q + r * width + i), x, sum[r][j]);
        }
      }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < kRows; ++r) {
      const auto four =
          SumsOfFour(SumsOfTwo(sum[r][0], sum[r][1]), SumsOfTwo(sum[r][2], sum[r][3]));
      hn::StoreU(hn::Mul(hn::Set(Four(), alpha), four), Four(), to + r * stride + key);
    }
  }
}

using DotKernel = decltype(&DotKeys<1>);

#if HWY_MAX_BYTES >= 64
// The same, to the same bits, where 32 registers hold the queries as well: kVectors each.
template <size_t kRows, size_t kVectors>
HWY_NOINLINE void DotKeysHeld(const float* q, size_t /*width*/, const Matrix& k, size_t keys,
                              float alpha, float* to, size_t stride, Ahead& ahead) {
  V held[kRows][kVectors];
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      held[r][v] = hn::LoadU(D(), q + (r * kVectors + v) * kLanes);
    }
  }
  for (size_t key = 0; key < keys; key += 4) {
    for (size_t j = 0; j < 4; ++j) ahead.Ask();
    V pairs[2][kRows];
#pragma GCC unroll 2
    for (size_t half = 0; half < 2; ++half) {
      const float* x = k.data + std::min(key + 2 * half, keys - 1) * k.stride;
      const float* y = k.data + std::min(key + 2 * half + 1, keys - 1) * k.stride;
      V sum[kRows][2];
#pragma GCC unroll 16
      for (size_t v = 0; v < kVectors; ++v) {
        const V a = hn::LoadU(D(), x + v * kLanes), b = hn::LoadU(D(), y + v * kLanes);
#pragma GCC unroll 16
        for (size_t r = 0; r < kRows; ++r) {
          const V zero = hn::Zero(D());
          sum[r][0] = hn::MulAdd(held[r][v], a, v == 0 ? zero : sum[r][0]);
          sum[r][1] = hn::MulAdd(held[r][v], b, v == 0 ? zero : sum[r][1]);
        }
      }
#pragma GCC unroll 16
      for (size_t r = 0; r < kRows; ++r) pairs[half][r] = SumsOfTwo(sum[r][0], sum[r][1]);
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
      const auto four = SumsOfFour(pairs[0][r], pairs[1][r]);
      hn::StoreU(hn::Mul(hn::Set(Four(), alpha), four), Four(), to + r * stride + key);
    }
  }
}

inline constexpr DotKernel kDotKeys[] = {DotKeys<1>, DotKeys<2>, DotKeys<3>, DotKeys<4>};
inline constexpr DotKernel kHeldTwo[] = {DotKeysHeld<1, 2>, DotKeysHeld<2, 2>, DotKeysHeld<3, 2>,
                                         DotKeysHeld<4, 2>};
inline constexpr DotKernel kHeldFour[] = {DotKeysHeld<1, 4>, DotKeysHeld<2, 4>, DotKeysHeld<3, 4>,
                                          DotKeysHeld<4, 4>};
inline constexpr DotKernel kHeldEight[] = {DotKeysHeld<1, 8>, DotKeysHeld<2, 8>};

inline DotKernel DotKernelFor(size_t rows, size_t width) {
  if (width == 2 * kLanes) return kHeldTwo[rows - 1];
  if (width == 4 * kLanes) return kHeldFour[rows - 1];
  if (width == 8 * kLanes && rows <= std::size(kHeldEight)) return kHeldEight[rows - 1];
  return kDotKeys[rows - 1];
}
#else
inline constexpr DotKernel kDotKeys[] = {DotKeys<1>, DotKeys<2>};

inline DotKernel DotKernelFor(size_t rows, size_t /*width*/) { return kDotKeys[rows - 1]; }
#endif

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
