// One block of a product: packs, runs the micro-kernel over its tiles, applies the options.
#include "attend/kernels/gemm_block.h"

#include <algorithm>

#include "attend/kernels/gemm_scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/gemm_block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attend/kernels/gemm_micro-inl.h"
#include "attend/kernels/gemm_pack-inl.h"
#include "attend/kernels/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

size_t PanelWidth() { return kPanel; }

void PackPanels(size_t k, size_t n, Matrix b, float* panels) {
  PackRight(b, 0, k, 0, n, panels, k * kPanel);
}

HWY_INLINE void CopyRow(const float* from, size_t size, float* to) {
  const D d;
  size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  for (; i < size; ++i) to[i] = from[i];
}

HWY_INLINE void AddRow(const float* from, size_t size, float* to) {
  const D d;
  size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + i)), d, to + i);
  }
  for (; i < size; ++i) to[i] += from[i];
}

// Whether more than the bias is left to do once z is known.
HWY_INLINE bool HasTail(const GemmOptions& options) {
  return options.preactivation.data != nullptr || options.activation != Activation::kIdentity ||
         options.residual.data != nullptr;
}

// Where on C a tile lies.
struct Place {
  size_t row, rows, column, columns, panels;
};

// z (rows, width), of which at.columns count, from the preactivation on, goes to its place. Changes
// z.
void Finish(const GemmJob& job, const Place& at, float* z, size_t width, MutableMatrix to) {
  const MutableMatrix kept = job.options.preactivation;
  const Matrix residual = job.options.residual;
  const auto offset = [&at](size_t i, size_t stride) { return (at.row + i) * stride + at.column; };
  for (size_t i = 0; i < at.rows && kept.data != nullptr; ++i) {
    CopyRow(z + i * width, at.columns, kept.data + offset(i, kept.stride));
  }
  if (job.options.activation != Activation::kIdentity) {
    activate(job.options.activation, z, z, at.rows * width);
  }
  for (size_t i = 0; i < at.rows; ++i) {
    float* row = z + i * width;
    if (residual.data != nullptr) {
      AddRow(residual.data + offset(i, residual.stride), at.columns, row);
    }
    CopyRow(row, at.columns, to.data + offset(i, to.stride));
  }
}

// One pass over C for each block of the sum.
struct Pass {
  const GemmJob& job;
  bool first, last;
  MutableMatrix from, to;  // the sums so far, and those to come
};

// A tile through memory of our own: at the right edge, where less than whole panels are left, and
// where the last pass has more to do than add a bias.
HWY_NOINLINE void TileAside(const Pass& pass, const Place& at, const Operands& x,
                            const Tile& tile) {
  HWY_ALIGN float z[kTileRows * kPanel];
  HWY_ALIGN float bias[kMostPanels * kPanel];
  const size_t width = at.panels * kPanel;
  Tile aside = tile;
  aside.from = aside.to = z;
  aside.from_stride = aside.to_stride = width;
  for (size_t i = 0; i < at.rows && tile.beta != 0.0f; ++i) {
    CopyRow(tile.from + i * tile.from_stride, at.columns, z + i * width);
  }
  if (tile.bias != nullptr) {
    CopyRow(tile.bias, at.columns, bias);
    aside.bias = bias;
  }
  KernelFor(at.rows, at.panels, x)(x, aside);
  if (pass.last) return Finish(pass.job, at, z, width, pass.to);
  for (size_t i = 0; i < at.rows; ++i) {
    CopyRow(z + i * width, at.columns, tile.to + i * tile.to_stride);
  }
}

HWY_INLINE void ComputeTile(const Pass& pass, const Place& at, const Operands& x) {
  const GemmOptions& options = pass.job.options;
  const Tile tile{.alpha = options.alpha,
                  .beta = pass.first ? options.beta : 1.0f,
                  .from = pass.from.data + at.row * pass.from.stride + at.column,
                  .from_stride = pass.from.stride,
                  .bias = pass.last && options.bias != nullptr ? options.bias + at.column : nullptr,
                  .to = pass.to.data + at.row * pass.to.stride + at.column,
                  .to_stride = pass.to.stride};
  if (at.columns < at.panels * kPanel || (pass.last && HasTail(options))) {
    TileAside(pass, at, x, tile);
  } else {
    KernelFor(at.rows, at.panels, x)(x, tile);
  }
}

// Where b is not packed, few rows read it as it lies, for it would be packed to be read once;
// otherwise a strip of panels is packed at a time: one if b lies by columns, but long rows if it
// lies by rows.
constexpr size_t kLongStrip = 8;

// Points x at the panels of b at `at`, for the block of the sum that starts at `sum`.
void LoadRight(const GemmJob& job, const Place& at, size_t sum, Operands& x) {
  x.b_by_columns = false;
  x.b_step = kPanel;
  if (job.panels != nullptr) {
    x.b = job.panels + at.column * job.k + sum * kPanel;
    x.panel_step = job.k * kPanel;
  } else if (job.m <= kTileRows && !x.a_packed && at.columns == at.panels * kPanel) {
    x.b_by_columns = job.b.transposed;
    x.b_step = job.b.stride;
    x.panel_step = kPanel;
    x.b = job.b.data + (x.b_by_columns ? at.column * x.b_step + sum : sum * x.b_step + at.column);
  } else {
    const bool one_panel = job.m <= kTileRows || job.b.transposed;
    const size_t strip = one_panel ? kPanel : kLongStrip * kPanel;
    const size_t first = at.column / strip * strip;
    x.panel_step = kPanel * kSumBlock;
    float* packed = gemm_scratch(Scratch::kRight, strip / kPanel * x.panel_step);
    if (at.column == first) {
      PackRight(job.b, sum, x.size, first, std::min(strip, job.n - first), packed, x.panel_step);
    }
    x.b = packed + (at.column - first) / kPanel * x.panel_step;
  }
}

// Calls body(pass, sum, size) for each block of the sum; a sum of nothing has one, too.
template <typename Body>
HWY_INLINE void ForSumBlocks(const GemmJob& job, MutableMatrix sums, MutableMatrix to,
                             const Body& body) {
  for (size_t sum = 0; sum == 0 || sum < job.k; sum += kSumBlock) {
    const size_t size = std::min(kSumBlock, job.k - sum);
    const bool first = sum == 0, last = sum + size == job.k;
    body(Pass{job, first, last, first ? job.c : sums, last ? to : sums}, sum, size);
  }
}

// All tiles, panel by panel, for the block of the sum that starts at `sum`; x holds its rows of a.
void RunPass(const Pass& pass, size_t sum, Operands x) {
  const GemmJob& job = pass.job;
  const bool by_columns = job.panels == nullptr && job.b.transposed;
  const bool one_panel = x.a_packed || by_columns;
  const float* a = x.a;
  const TileRows tiles(job.m);
  Place at{};
  for (; at.column < job.n; at.column += at.columns) {
    const size_t left = job.n - at.column;
    at.panels = one_panel ? 1 : PanelsAtOnce(job.m, left / kPanel);
    at.columns = std::min(left, at.panels * kPanel);
    LoadRight(job, at, sum, x);
    for (size_t t = 0; t < tiles.count; ++t) {
      at.row = tiles.begin(t);
      at.rows = tiles.begin(t + 1) - at.row;
      x.a = a + (x.a_packed ? t * kLeftTile : at.row * x.a_stride);
      ComputeTile(pass, at, x);
    }
  }
}

// Few rows of a as they lie, b packed: a panel goes by from its first term to its last before the
// next one, so that b is read in the order of memory.
void MultiplyFew(const GemmJob& job, MutableMatrix sums, MutableMatrix to) {
  Place at{.row = 0, .rows = job.m};
  for (; at.column < job.n; at.column += at.columns) {
    const size_t left = job.n - at.column;
    at.panels = PanelsAtOnce(job.m, left / kPanel);
    at.columns = std::min(left, at.panels * kPanel);
    ForSumBlocks(job, sums, to, [&](const Pass& pass, size_t sum, size_t size) {
      Operands x{.size = size, .a = job.a.data + sum, .a_packed = false, .a_stride = job.a.stride};
      LoadRight(job, at, sum, x);
      ComputeTile(pass, at, x);
    });
  }
}

constexpr size_t kFewColumns = 128;

// Sums so far go to `sums`, the last ones to `to`.
void Multiply(const GemmJob& job, MutableMatrix sums, MutableMatrix to) {
  if (job.m <= kTileRows && job.panels != nullptr && !job.a.transposed) {
    return MultiplyFew(job, sums, to);
  }
  // Packing a pays when many columns use it.
  const bool direct = !job.a.transposed && (job.m <= kTileRows || job.n <= kFewColumns);
  const TileRows tiles(job.m);
  float* packed = direct ? nullptr : gemm_scratch(Scratch::kLeft, tiles.count * kLeftTile);
  ForSumBlocks(job, sums, to, [&](const Pass& pass, size_t sum, size_t size) {
    Operands x{.size = size, .a = packed, .a_packed = !direct, .a_stride = job.a.stride};
    if (direct) {
      x.a = job.a.data + sum;
    } else {
      PackLeft(job.a, tiles, sum, size, packed);
    }
    RunPass(pass, sum, x);
  });
}

// Many rows: what follows the sum is done by whole rows, while they are still in L2. Until the
// residual has been added, C may be it.
void MultiplyThenFinish(const GemmJob& job, bool residual_is_c) {
  const GemmOptions& options = job.options;
  const MutableMatrix kept = options.preactivation;
  const MutableMatrix aside{nullptr, job.n};
  MutableMatrix z = kept.data != nullptr ? kept : residual_is_c ? aside : job.c;
  if (z.data == nullptr) z.data = gemm_scratch(Scratch::kSums, job.m * job.n);
  GemmJob product = job;
  product.options = {.alpha = options.alpha, .beta = options.beta, .bias = options.bias};
  Multiply(product, z, z);

  const bool adds = options.residual.data != nullptr;
  float* const row = kept.data != nullptr && adds ? gemm_scratch(Scratch::kSums, job.n) : nullptr;
  for (size_t i = 0; i < job.m; ++i) {
    const float* sums = z.data + i * z.stride;
    float* const to = job.c.data + i * job.c.stride;
    float* const active = row != nullptr ? row : adds ? z.data + i * z.stride : to;
    if (options.activation != Activation::kIdentity) {
      activate(options.activation, sums, active, job.n);
      sums = active;
    }
    if (adds) {
      const auto add = [](V x, V y) { return hn::Add(x, y); };
      Transform(to, job.n, add, sums, options.residual.data + i * options.residual.stride);
    } else if (sums != to) {
      CopyRow(sums, job.n, to);
    }
  }
}

void OneThread(const GemmJob& job) {
  const bool residual_is_c = job.options.residual.data == job.c.data;
  if (job.m > kTileRows && HasTail(job.options)) return MultiplyThenFinish(job, residual_is_c);
  const bool aside = residual_is_c && job.k > kSumBlock;
  const MutableMatrix sums =
      aside ? MutableMatrix{gemm_scratch(Scratch::kSums, job.m * job.n), job.n} : job.c;
  Multiply(job, sums, job.c);
}

}  // namespace attend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(PanelWidth);
HWY_EXPORT(PackPanels);
HWY_EXPORT(OneThread);

size_t panel_width() { return HWY_DYNAMIC_DISPATCH(PanelWidth)(); }

void pack_panels(size_t k, size_t n, Matrix b, float* panels) {
  HWY_DYNAMIC_DISPATCH(PackPanels)(k, n, b, panels);
}

void gemm_one_thread(const GemmJob& job) { HWY_DYNAMIC_DISPATCH(OneThread)(job); }

}  // namespace attend::kernels
#endif
