// Eigenvectors of symmetric matrices. Not for use outside inspect/.
#pragma once

#include <vector>

#include "attend/base/parallel.h"

namespace attend {

// A square matrix in double precision, row by row.
struct SquareMatrix {
  size_t size = 0;
  std::vector<double> values;  // (size x size)

  explicit SquareMatrix(size_t n) : size(n), values(n * n) {}
  double* row(size_t i) { return values.data() + i * size; }
  const double* row(size_t i) const { return values.data() + i * size; }
};

// Eigenvalues, largest first, with their eigenvectors.
struct Eigen {
  std::vector<double> values;
  std::vector<std::vector<double>> vectors;  // of length 1
};

// The `count` largest of a symmetric matrix that has no negative ones, but for rounding: of a small
// one by Jacobi's rotations, otherwise by subspace iteration.
Eigen largest_eigen(const SquareMatrix& matrix, size_t count);

}  // namespace attend
