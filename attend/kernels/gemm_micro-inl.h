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

// The operands of a tile: rows of a, panels of b.
struct Operands {
  size_t size;  // of the sum
  const float* a;
  size_t a_stride;
  const float* b;
  size_t panel_step;
};

// kRows x kPanels panels. Out of line, and every loop over accumulators unrolled, so that the
// compiler keeps them all in registers.
template <size_t kRows, size_t kPanels>
HWY_NOINLINE void MicroKernel(const Operands& x, const Tile& tile) {
  const D d;
  constexpr size_t kVectors = 2 * kPanels;
  V sum[kRows][kVectors];
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
  }
  const float* a = x.a;
  const float* b = x.b;
  const size_t a_stride = x.a_stride, panel_step = x.panel_step;
#pragma GCC unroll 4
  for (size_t k = x.size; k != 0; --k) {
    V right[kVectors];
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      right[v] = hn::Load(d, b + v / 2 * panel_step + v % 2 * kLanes);
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < kRows; ++i) {
      const V left = hn::Set(d, a[i * a_stride]);
#pragma GCC unroll 16
      for (size_t v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(left, right[v], sum[i][v]);
    }
    ++a;
    b += kPanel;
  }
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

using Kernel = void (*)(const Operands&, const Tile&);

// Few rows take several panels at a time: their accumulators alone would not fill the pipeline.
constexpr size_t kMostPanels = 4;
HWY_INLINE size_t PanelsAtOnce(size_t rows) { return rows == 1 ? kMostPanels : rows <= 3 ? 2 : 1; }

HWY_INLINE Kernel KernelFor(size_t rows, size_t panels) {
  static constexpr Kernel kOnePanel[] = {MicroKernel<1, 1>, MicroKernel<2, 1>, MicroKernel<3, 1>,
                                         MicroKernel<4, 1>, MicroKernel<5, 1>, MicroKernel<6, 1>};
  static constexpr Kernel kMorePanels[] = {MicroKernel<1, kMostPanels>, MicroKernel<2, 2>,
                                           MicroKernel<3, 2>};
  static_assert(std::size(kOnePanel) == kTileRows);
  return panels == 1 ? kOnePanel[rows - 1] : kMorePanels[rows - 1];
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
