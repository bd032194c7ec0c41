// The micro-kernel: a tile of C, kept in registers while one block of the sum goes by; included
// once for each SIMD target.
#if defined(ATTEND_KERNELS_GEMM_MICRO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEND_KERNELS_GEMM_MICRO_INL_H_
#undef ATTEND_KERNELS_GEMM_MICRO_INL_H_
#else
#define ATTEND_KERNELS_GEMM_MICRO_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <iterator>

#include "attend/kernels/gemm_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// to = alpha * (what the micro-kernel adds up) + beta * from + bias
struct Tile {
  float alpha, beta;
  const float* from;  // not read when beta is 0
  size_t from_stride;
  const float* bias;  // or nullptr
  float* to;
  size_t to_stride;
};

// The operands of a tile. Element (k, j) of b is at b[k * b_step + j / kPanel * panel_step + j %
// kPanel] or, where b is stored by columns, at b[j * b_step + k].
struct Operands {
  size_t size;  // of the sum
  const float* a;
  bool a_packed;    // (size, kTileRows), or rows as they lie
  size_t a_stride;  // from row to row, where they do
  const float* b;
  size_t b_step, panel_step;
  bool b_by_columns;
};

// Every loop over accumulators is unrolled, so that the compiler keeps them all in registers.
template <size_t kRows, size_t kVectors>
using Accumulators = V[kRows][kVectors];

template <size_t kRows, size_t kVectors>
HWY_INLINE void StartTile(Accumulators<kRows, kVectors>& sum, const Tile& tile) {
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i) {
    // C's lines are far apart, which no hardware foresees: ask for them while the sum goes by.
    __builtin_prefetch(tile.to + i * tile.to_stride, 1);
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(D());
  }
}

template <size_t kRows, size_t kVectors>
HWY_INLINE void StoreTile(const Accumulators<kRows, kVectors>& sum, const Tile& tile) {
  const D d;
  const V alpha = hn::Set(d, tile.alpha), beta = hn::Set(d, tile.beta);
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      V z = hn::Mul(alpha, sum[i][v]);
      if (tile.beta != 0.0f) {
        z = hn::MulAdd(beta, hn::LoadU(d, tile.from + i * tile.from_stride + v * kLanes), z);
      }
      if (tile.bias != nullptr) z = hn::Add(z, hn::LoadU(d, tile.bias + v * kLanes));
      hn::StoreU(z, d, tile.to + i * tile.to_stride + v * kLanes);
    }
  }
}

// Adds a column of a, a_stride between its elements, times a row of b.
template <size_t kRows, size_t kVectors>
HWY_INLINE void AddTerm(Accumulators<kRows, kVectors>& sum, const float* a, size_t a_stride,
                        const V (&b)[kVectors]) {
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i) {
    const V left = hn::Set(D(), a[i * a_stride]);
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(left, b[v], sum[i][v]);
  }
}

constexpr size_t kTermsAhead = 32;  // b is asked for

// kRows rows of kPanels panels. Out of line, for the sake of its registers.
template <size_t kRows, size_t kPanels, bool kPackedLeft>
HWY_NOINLINE void MicroKernel(const Operands& x, const Tile& tile) {
  constexpr size_t kVectors = 2 * kPanels;
  Accumulators<kRows, kVectors> sum;
  StartTile<kRows, kVectors>(sum, tile);
  const float* a = x.a;
  const float* b = x.b;
  const size_t a_stride = kPackedLeft ? 1 : x.a_stride, a_step = kPackedLeft ? kTileRows : 1;
  const size_t b_step = x.b_step, panel_step = x.panel_step;
  const size_t ahead = kTermsAhead * b_step;
#pragma GCC unroll 4
  for (size_t k = x.size; k != 0; --k) {
    V row[kVectors];
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      row[v] = hn::LoadU(D(), b + v / 2 * panel_step + v % 2 * kLanes);
    }
    AddTerm<kRows, kVectors>(sum, a, a_stride, row);
    if constexpr (!kPackedLeft && kRows < kTileRows) {
      // Few rows wait for memory, and nothing foresees where a panel begins or rows are far apart.
#pragma GCC unroll 16
      for (size_t v = 0; v < kVectors; ++v) {
        if (v * kLanes % 16 != 0) continue;  // one request for each cache line
        __builtin_prefetch(b + ahead + v / 2 * panel_step + v % 2 * kLanes, 0, 2);
      }
    }
    a += a_step;
    b += b_step;
  }
  StoreTile<kRows, kVectors>(sum, tile);
}

// The same for few rows and one panel, b stored by columns: transposed in registers on its only way
// through. Adds up in the same order, to the same bits.
template <size_t kRows>
HWY_NOINLINE void MicroKernelByColumns(const Operands& x, const Tile& tile) {
  Accumulators<kRows, 2> sum;
  StartTile<kRows, 2>(sum, tile);
  const EvenRows low{x.b, x.b_step}, high{x.b + kLanes * x.b_step, x.b_step};
  const float* a = x.a;
  const size_t a_stride = x.a_stride, size = x.size;
  size_t k = 0;
  for (; k + 4 <= size; k += 4, a += 4) {
    const auto left = LoadColumns(D(), low, 0, k), right = LoadColumns(D(), high, 0, k);
    AddTerm<kRows, 2>(sum, a, a_stride, {left.c0, right.c0});
    AddTerm<kRows, 2>(sum, a + 1, a_stride, {left.c1, right.c1});
    AddTerm<kRows, 2>(sum, a + 2, a_stride, {left.c2, right.c2});
    AddTerm<kRows, 2>(sum, a + 3, a_stride, {left.c3, right.c3});
  }
  for (; k < size; ++k, ++a) {
    HWY_ALIGN float term[kPanel];
    for (size_t j = 0; j < kPanel; ++j) term[j] = low[j][k];
    AddTerm<kRows, 2>(sum, a, a_stride, {hn::Load(D(), term), hn::Load(D(), term + kLanes)});
  }
  StoreTile<kRows, 2>(sum, tile);
}

using Kernel = void (*)(const Operands&, const Tile&);

// Few rows take several panels at a time: their accumulators alone would not fill the pipeline.
constexpr size_t kMostPanels = 4;
HWY_INLINE size_t PanelsAtOnce(size_t rows, size_t left) {
  if (rows == 1 && left >= kMostPanels) return kMostPanels;
  return rows <= 2 && left >= 2 ? 2 : 1;
}

HWY_INLINE Kernel KernelFor(size_t rows, size_t panels, const Operands& x) {
  static constexpr Kernel kPacked[] = {MicroKernel<1, 1, true>, MicroKernel<2, 1, true>,
                                       MicroKernel<3, 1, true>, MicroKernel<4, 1, true>,
                                       MicroKernel<5, 1, true>, MicroKernel<6, 1, true>};
  static constexpr Kernel kDirect[] = {MicroKernel<1, 1, false>, MicroKernel<2, 1, false>,
                                       MicroKernel<3, 1, false>, MicroKernel<4, 1, false>,
                                       MicroKernel<5, 1, false>, MicroKernel<6, 1, false>};
  static constexpr Kernel kTwoPanels[] = {MicroKernel<1, 2, false>, MicroKernel<2, 2, false>};
  static constexpr Kernel kByColumns[] = {MicroKernelByColumns<1>, MicroKernelByColumns<2>,
                                          MicroKernelByColumns<3>, MicroKernelByColumns<4>,
                                          MicroKernelByColumns<5>, MicroKernelByColumns<6>};
  static_assert(std::size(kPacked) == kTileRows);
  if (x.a_packed) return kPacked[rows - 1];
  if (x.b_by_columns) return kByColumns[rows - 1];
  if (panels == kMostPanels) return MicroKernel<1, kMostPanels, false>;
  return panels == 2 ? kTwoPanels[rows - 1] : kDirect[rows - 1];
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
