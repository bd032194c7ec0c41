// Matrix products by one packed micro-kernel. Work is split over rows and columns, never over the
// sum, so the result has the same bits for any number of threads. A row has the same bits whatever
// the other rows are, and whether or not B is packed. Safe to call from inside parallel_for, where
// it runs in the calling thread.
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

// A row-major matrix that is written.
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
  // Packs b, stored by columns (n, k), in its own memory if whole panels fit, and copies it
  // otherwise. Other users of that memory must not read it afterwards.
  static PackedMatrix from_columns(size_t k, size_t n, std::shared_ptr<Storage> b);

  // Its size (rows, columns), its memory, and whether there is none.
  size_t rows() const { return k_; }
  size_t columns() const { return n_; }
  const float* data() const { return static_cast<const float*>(storage_->data()); }
  bool empty() const { return storage_ == nullptr; }
  void copy_column(size_t j, float scale, float* to) const;  // to[i] = scale b[i, j]

 private:
  size_t k_ = 0, n_ = 0;
  std::shared_ptr<const Storage> storage_;
};

// C (m, n) = A (m, k) B, with B packed. Best for recurrent steps and the few rows of a decoder.
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
