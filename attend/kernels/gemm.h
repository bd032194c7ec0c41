// Matrix products, all of them by one packed micro-kernel. Work is split over rows and columns,
// never over the sum, so the bits of the result do not depend on the number of threads; and a row
// has the same bits whatever the other rows are, whether or not B is packed. Safe to call from
// inside parallel_for, where it runs in the calling thread.
#pragma once

#include <cstddef>
#include <memory>

#include "attend/base/storage.h"
#include "attend/kernels/activations.h"

namespace attend::kernels {

// A row-major matrix: element (i, j) is data[i * stride + j], or data[j * stride + i] if
// transposed.
struct Matrix {
  const float* data;
  size_t stride;
  bool transposed = false;
};

struct MutableMatrix {
  float* data;
  size_t stride;
};

// What happens to each element z = alpha (A B)[i, j] + beta C[i, j] while it is still in a
// register:
//   z += bias[j];  preactivation[i, j] = z;  z = activation(z);  z += residual[i, j];  C[i, j] = z
struct GemmOptions {
  float alpha = 1.0f;
  float beta = 0.0f;            // C is not read when 0
  const float* bias = nullptr;  // (n)
  Activation activation = Activation::kIdentity;
  MutableMatrix preactivation = {nullptr, 0};  // (m, n), kept for the gradient of the activation
  Matrix residual = {nullptr, 0};              // (m, n), not transposed; may be C itself
};

// C (m, n) = A (m, k) B (k, n), with the options applied.
void gemm(size_t m, size_t n, size_t k, Matrix a, Matrix b, MutableMatrix c,
          const GemmOptions& options = {});

// The right-hand side of a product, laid out for the micro-kernel once and used many times.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  PackedMatrix(size_t k, size_t n, Matrix b);  // copies b (k, n)
  // b stored by columns, (n, k): laid out anew in its own memory where whole panels fit, copied
  // otherwise. What else reads that memory finds something else there.
  static PackedMatrix from_columns(size_t k, size_t n, std::shared_ptr<Storage> b);

  size_t rows() const { return k_; }
  size_t columns() const { return n_; }
  const float* data() const { return static_cast<const float*>(storage_->data()); }
  bool empty() const { return storage_ == nullptr; }
  void copy_column(size_t j, float scale, float* to) const;  // to[i] = scale b[i, j]

 private:
  size_t k_ = 0, n_ = 0;
  std::shared_ptr<const Storage> storage_;
};

// C (m, n) = A (m, k) B, B packed. The way to go for a recurrent step or a decoder's few rows.
void gemm(size_t m, Matrix a, const PackedMatrix& b, MutableMatrix c,
          const GemmOptions& options = {});

// `count` products of the same size; operand i starts at data + i * step.
struct GemmBatch {
  size_t count;
  size_t a_step, b_step, c_step;
};
void gemm_batch(const GemmBatch& batch, size_t m, size_t n, size_t k, Matrix a, Matrix b,
                MutableMatrix c, const GemmOptions& options = {});

}  // namespace attend::kernels
