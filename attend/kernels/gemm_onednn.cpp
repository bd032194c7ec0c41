// Matrix products by oneDNN, one single-threaded call a block so that the bits of a result do not
// depend on the number of threads.
#include <dnnl.h>
#include <omp.h>

#include <algorithm>
#include <stdexcept>

#include "attend/base/parallel.h"
#include "attend/kernels/gemm_block.h"
#include "attend/kernels/gemm_scratch.h"

namespace attend::kernels {
namespace {

constexpr size_t kBlockRows = 256, kBlockColumns = 512;

// Keeps a library from opening a parallel region of its own where ours runs on one thread.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

void multiply(const GemmJob& job, float beta, MutableMatrix z) {
  const auto size = [](size_t n) { return static_cast<dnnl_dim_t>(n); };
  const auto letter = [](const Matrix& x) { return x.transposed ? 'T' : 'N'; };
  const OneThread one_thread;
  const dnnl_status_t status = dnnl_sgemm(
      letter(job.a), letter(job.b), size(job.m), size(job.n), size(job.k), job.options.alpha,
      job.a.data, size(job.a.stride), job.b.data, size(job.b.stride), beta, z.data, size(z.stride));
  if (status != dnnl_success) throw std::runtime_error("gemm: oneDNN refused a product");
}

void run_block(const GemmJob& job) {
  const GemmOptions& options = job.options;
  const bool plain = options.bias == nullptr && options.preactivation.data == nullptr &&
                     options.activation == Activation::kIdentity &&
                     options.residual.data == nullptr;
  if (plain && job.k != 0) return multiply(job, options.beta, job.c);

  // C may be the residual as well, so z is made aside.
  const MutableMatrix z{gemm_scratch(Scratch::kSums, job.m * job.n), job.n};
  for (size_t i = 0; i < job.m; ++i) {
    for (size_t j = 0; j < job.n; ++j) {
      z.data[i * z.stride + j] =
          options.beta == 0.0f ? 0.0f : options.beta * job.c.data[i * job.c.stride + j];
    }
  }
  if (job.k != 0) multiply(job, 1.0f, z);
  gemm_epilogue(job, z.data);
}

}  // namespace

void gemm_onednn(const GemmJob& job) {
  const size_t rows = chunk_count(job.m, kBlockRows), columns = chunk_count(job.n, kBlockColumns);
  parallel_chunks(rows * columns, [&](size_t chunk) {
    const size_t row = chunk / columns * kBlockRows, column = chunk % columns * kBlockColumns;
    run_block(part_of(job, {row, std::min(kBlockRows, job.m - row), column,
                            std::min(kBlockColumns, job.n - column)}));
  });
}

}  // namespace attend::kernels
