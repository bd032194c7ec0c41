// How a product is cut into blocks for the threads. No cut depends on the number of threads, and
// none is in the sum.
#include "attend/kernels/gemm.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/kernels/gemm_block.h"
#include "attend/kernels/gemm_scratch.h"

namespace attend::kernels {
namespace {

constexpr size_t kBlockRows = 11 * kTileRows;      // with kSumBlock, a quarter of L2
constexpr size_t kFewRows = 2 * kBlockRows;        // not worth packing b for all threads
constexpr size_t kBlockColumns = 2048;             // a is packed anew for each
constexpr size_t kPackedSize = size_t{1} << 20;    // floats of b packed at a time, shared in L3
constexpr size_t kStreamed = size_t{1} << 18;      // floats of b that few rows read at a stretch
constexpr size_t kSmallProduct = size_t{1} << 19;  // multiply-adds not worth a second thread
constexpr size_t kSmallPacking = size_t{1} << 13;  // floats likewise

// `size` things in `parts` runs as even as can be: where run `part` begins.
size_t part_begin(size_t size, size_t parts, size_t part) { return size * part / parts; }

size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

// C cut into rows x columns blocks at multiples of a tile.
struct Grid {
  size_t rows, columns;
};

void run_grid(const GemmJob& job, Grid grid) {
  const size_t tiles = ceil_div(job.m, kTileRows), width = panel_width();
  const size_t panels = ceil_div(job.n, width);
  parallel_chunks(grid.rows * grid.columns, [&](size_t chunk) {
    const size_t r = chunk / grid.columns, c = chunk % grid.columns;
    const size_t row = part_begin(tiles, grid.rows, r) * kTileRows;
    const size_t column = part_begin(panels, grid.columns, c) * width;
    const size_t row_end = std::min(job.m, part_begin(tiles, grid.rows, r + 1) * kTileRows);
    const size_t column_end = std::min(job.n, part_begin(panels, grid.columns, c + 1) * width);
    gemm_one_thread(part_of(job, {row, row_end - row, column, column_end - column}));
  });
}

// At most `limit` parts, otherwise about size / ideal, in fours so that 2 and 4 threads share
// evenly.
size_t even_parts(size_t size, size_t ideal, size_t limit) {
  const size_t parts = ceil_div(ceil_div(size, ideal), 4) * 4;
  return std::clamp<size_t>(parts, 1, std::max<size_t>(limit, 1));
}

// Few rows: the columns are split, and b's panels are packed in L1 where used.
// As each part packs a anew, a thread that works alone does not split.
void run_short(const GemmJob& job) {
  if (runs_alone()) return run_grid(job, {1, 1});
  const bool few = job.m <= kTileRows;
  const size_t work = job.m * job.n * job.k;
  const size_t ideal = few ? kStreamed / std::max<size_t>(job.k, 1) : 256;
  const size_t parts = even_parts(job.n, std::max<size_t>(ideal, 1), job.n / 64);
  run_grid(job, {1, work < (few ? kSmallProduct / 16 : kSmallProduct) ? 1 : parts});
}

void pack(size_t k, size_t n, Matrix b, float* to) {
  const size_t width = panel_width();
  const size_t panels = std::clamp<size_t>(kSmallPacking / (k * width + 1), 1, 8);
  parallel_for(n, panels * width, [&](size_t begin, size_t end) {
    const float* from = b.data + (b.transposed ? begin * b.stride : begin);
    pack_panels(k, end - begin, {from, b.stride, b.transposed}, to + begin * k);
  });
}

void run_tall(const GemmJob& job) {
  const size_t work = job.m * job.n * job.k, tiles = ceil_div(job.m, kTileRows);
  if (work < kSmallProduct) return run_grid(job, {1, 1});
  run_grid(job, {even_parts(job.m, kBlockRows, tiles), ceil_div(job.n, kBlockColumns)});
}

void run(const GemmJob& job) {
  if (job.m == 0 || job.n == 0) return;
  if (job.m <= kFewRows) return run_short(job);
  if (job.panels != nullptr) return run_tall(job);
  const size_t width = panel_width();
  const size_t panels_at_once =
      std::max<size_t>(kPackedSize / (std::max<size_t>(job.k, 1) * width), 4);
  const size_t step = panels_at_once * width;
  for (size_t first = 0; first < job.n; first += step) {
    GemmJob part = part_of(job, {0, job.m, first, std::min(step, job.n - first)});
    float* panels = gemm_scratch(Scratch::kShared, ceil_div(part.n, width) * width * part.k);
    pack(part.k, part.n, part.b, panels);
    part.panels = panels;
    run_tall(part);
  }
}

}  // namespace

void gemm(size_t m, size_t n, size_t k, Matrix a, Matrix b, MutableMatrix c,
          const GemmOptions& options) {
  run({m, n, k, a, b, nullptr, c, options});
}

PackedMatrix::PackedMatrix(size_t k, size_t n, Matrix b) : k_(k), n_(n) {
  const size_t width = panel_width();
  const auto panels = std::make_shared<Storage>(ceil_div(n, width) * width * k * sizeof(float));
  pack(k, n, b, static_cast<float*>(panels->data()));
  storage_ = panels;
}

PackedMatrix PackedMatrix::from_columns(size_t k, size_t n, std::shared_ptr<Storage> b) {
  const size_t width = panel_width();
  auto* const data = static_cast<float*>(b->data());
  if (n % width != 0) return {k, n, {data, k, true}};
  parallel_for(n / width, std::max<size_t>(kSmallPacking / (k * width + 1), 1),
               [&](size_t begin, size_t end) {
                 std::vector<float> columns(k * width);
                 for (size_t p = begin; p < end; ++p) {  // the same floats before and after
                   float* const panel = data + p * k * width;
                   std::copy_n(panel, columns.size(), columns.data());
                   pack_panels(k, width, {columns.data(), k, true}, panel);
                 }
               });
  PackedMatrix packed;
  packed.k_ = k;
  packed.n_ = n;
  packed.storage_ = std::move(b);
  return packed;
}

void PackedMatrix::copy_column(size_t j, float scale, float* to) const {
  const size_t width = panel_width();
  const float* from = data() + j / width * width * k_ + j % width;
  for (size_t i = 0; i < k_; ++i) to[i] = scale * from[i * width];
}

void gemm(size_t m, Matrix a, const PackedMatrix& b, MutableMatrix c, const GemmOptions& options) {
  run({m, b.columns(), b.rows(), a, {}, b.data(), c, options});
}

void gemm_batch(const GemmBatch& batch, size_t m, size_t n, size_t k, Matrix a, Matrix b,
                MutableMatrix c, const GemmOptions& options) {
  const auto item = [&](size_t i) {
    const Matrix ai{a.data + i * batch.a_step, a.stride, a.transposed};
    const Matrix bi{b.data + i * batch.b_step, b.stride, b.transposed};
    gemm(m, n, k, ai, bi, {c.data + i * batch.c_step, c.stride}, options);
  };
  const size_t work = m * n * std::max<size_t>(k, 1);
  if (work >= kSmallProduct * 32) {  // large enough to be shared by all threads
    for (size_t i = 0; i < batch.count; ++i) item(i);
  } else {
    parallel_for(batch.count, kSmallProduct / std::max<size_t>(work, 1) + 1,
                 [&](size_t begin, size_t end) {
                   for (size_t i = begin; i < end; ++i) item(i);
                 });
  }
}

}  // namespace attend::kernels
