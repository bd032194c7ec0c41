// The parts of a matrix product that gemm.cpp hands to threads. Not for use outside gemm*.cpp.
#pragma once

#include <cstddef>

#include "attend/kernels/gemm.h"

namespace attend::kernels {

struct GemmJob {
  size_t m, n, k;
  Matrix a, b;
  const float* panels;  // b packed, or nullptr: each block then packs what it needs of b
  MutableMatrix c;
  GemmOptions options;
};

struct GemmBlock {
  size_t row, rows, column, columns;  // column is a multiple of the panel width if b is packed
};

// A block of C as a product of its own.
inline GemmJob part_of(const GemmJob& job, const GemmBlock& block) {
  const auto offset = [&block](size_t stride) { return block.row * stride + block.column; };
  GemmJob part = job;
  part.m = block.rows;
  part.n = block.columns;
  part.a.data += job.a.transposed ? block.row : block.row * job.a.stride;
  if (job.panels != nullptr) {
    part.panels += block.column * job.k;
  } else {
    part.b.data += job.b.transposed ? block.column * job.b.stride : block.column;
  }
  part.c.data += offset(job.c.stride);
  GemmOptions& options = part.options;
  if (options.bias != nullptr) options.bias += block.column;
  if (options.preactivation.data != nullptr) {
    options.preactivation.data += offset(options.preactivation.stride);
  }
  if (options.residual.data != nullptr) options.residual.data += offset(options.residual.stride);
  return part;
}

inline constexpr size_t kTileRows = 6;

// Elements of the sum that are added up in registers before they go to memory. It decides the bits
// of a result, so it is the same on every path.
inline constexpr size_t kSumBlock = 512;

// Columns in a panel: two registers of the SIMD target in use.
size_t panel_width();

// Packs b (k, n) into panels: (panel, k, panel_width()), with filler past the last column.
void pack_panels(size_t k, size_t n, Matrix b, float* panels);

// The whole product, with its options, in the calling thread.
void gemm_one_thread(const GemmJob& job);

}  // namespace attend::kernels
