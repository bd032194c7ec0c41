#include "attend/inspect/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/base/rng.h"

namespace attend {
namespace {

constexpr size_t kSmallMatrix = 64;  // up to here, all eigenvectors are computed
constexpr size_t kSparePlaces = 10;  // of the subspace, beyond those that are asked for
constexpr size_t kMostSweeps = 60;   // of rotations
constexpr size_t kMostIterations = 500;
constexpr double kSettled = 1e-12;  // relative change of an eigenvalue, in parts of the largest

using Vectors = std::vector<std::vector<double>>;

double dot(const double* a, const double* b, size_t size) {
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

double length(const std::vector<double>& x) { return std::sqrt(dot(x.data(), x.data(), x.size())); }

// Turns rows and columns p and q so that the entry (p, q) becomes 0 (Jacobi, 1846).
void rotate(SquareMatrix& a, SquareMatrix& vectors, size_t p, size_t q) {
  const double off = a.row(p)[q];
  if (off == 0) return;
  const double theta = (a.row(q)[q] - a.row(p)[p]) / (2 * off);
  const double t = (theta >= 0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (size_t k = 0; k < a.size; ++k) {
    const double x = a.row(k)[p], y = a.row(k)[q];
    a.row(k)[p] = c * x - s * y;
    a.row(k)[q] = s * x + c * y;
  }
  for (size_t k = 0; k < a.size; ++k) {
    const double x = a.row(p)[k], y = a.row(q)[k];
    a.row(p)[k] = c * x - s * y;
    a.row(q)[k] = s * x + c * y;
    const double v = vectors.row(p)[k], w = vectors.row(q)[k];
    vectors.row(p)[k] = c * v - s * w;
    vectors.row(q)[k] = s * v + c * w;
  }
}

Eigen by_rotations(SquareMatrix a) {
  const size_t size = a.size;
  SquareMatrix vectors(size);
  for (size_t i = 0; i < size; ++i) vectors.row(i)[i] = 1;
  for (size_t sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0, all = 0;
    for (size_t i = 0; i < size; ++i) {
      for (size_t j = 0; j < size; ++j) {
        const double square = a.row(i)[j] * a.row(i)[j];
        all += square;
        if (i != j) off += square;
      }
    }
    if (off <= 1e-30 * all) break;
    for (size_t p = 0; p + 1 < size; ++p) {
      for (size_t q = p + 1; q < size; ++q) rotate(a, vectors, p, q);
    }
  }
  std::vector<size_t> order(size);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t i, size_t j) { return a.row(i)[i] > a.row(j)[j]; });
  Eigen found;
  for (const size_t i : order) {
    found.values.push_back(a.row(i)[i]);
    found.vectors.emplace_back(vectors.row(i), vectors.row(i) + size);
  }
  return found;
}

// Makes vectors orthogonal and of length 1, twice, which is enough (Kahan). One that depends on
// those before it becomes zeros.
void orthonormalize(Vectors& vectors) {
  for (size_t i = 0; i < vectors.size(); ++i) {
    std::vector<double>& x = vectors[i];
    const double before = length(x);
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t j = 0; j < i; ++j) {
        const double along = dot(vectors[j].data(), x.data(), x.size());
        for (size_t k = 0; k < x.size(); ++k) x[k] -= along * vectors[j][k];
      }
    }
    const double after = length(x);
    const double scale = after > 1e-12 * before ? 1 / after : 0.0;
    for (double& value : x) value *= scale;
  }
}

Vectors product(const SquareMatrix& matrix, const Vectors& vectors) {
  Vectors products(vectors.size(), std::vector<double>(matrix.size));
  constexpr size_t kRowsOfThread = 16;
  parallel_for(matrix.size, kRowsOfThread, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      for (size_t i = 0; i < vectors.size(); ++i) {
        products[i][row] = dot(matrix.row(row), vectors[i].data(), matrix.size);
      }
    }
  });
  return products;
}

// Sums of the vectors, each with the weights of a row.
Vectors combined(const Vectors& vectors, const Vectors& weights) {
  Vectors sums(weights.size(), std::vector<double>(vectors.front().size()));
  for (size_t i = 0; i < weights.size(); ++i) {
    for (size_t j = 0; j < vectors.size(); ++j) {
      for (size_t k = 0; k < sums[i].size(); ++k) sums[i][k] += weights[i][j] * vectors[j][k];
    }
  }
  return sums;
}

// With a Rayleigh-Ritz step in each iteration.
Eigen by_iteration(const SquareMatrix& matrix, size_t count) {
  const size_t places = std::min(matrix.size, count + kSparePlaces);
  Vectors vectors(places, std::vector<double>(matrix.size));
  Rng rng(1);
  for (std::vector<double>& x : vectors) {
    std::vector<float> random(x.size());
    fill_normal(random, rng.stream(), 0.0f, 1.0f);
    std::ranges::copy(random, x.begin());
  }
  Eigen found;
  for (size_t iteration = 0; iteration < kMostIterations; ++iteration) {
    orthonormalize(vectors);
    const Vectors products = product(matrix, vectors);
    SquareMatrix inner(places);
    for (size_t i = 0; i < places; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        inner.row(i)[j] = inner.row(j)[i] = dot(vectors[i].data(), products[j].data(), matrix.size);
      }
    }
    const std::vector<double> before = std::move(found.values);
    Eigen small = by_rotations(std::move(inner));
    found.values = std::move(small.values);
    found.vectors = combined(vectors, small.vectors);
    vectors = combined(products, small.vectors);
    bool settled = !before.empty();
    for (size_t i = 0; i < count && settled; ++i) {
      settled = std::abs(found.values[i] - before[i]) <= kSettled * std::abs(found.values[0]);
    }
    if (settled) break;
  }
  return found;
}

}  // namespace

Eigen largest_eigen(const SquareMatrix& matrix, size_t count) {
  count = std::min(count, matrix.size);
  Eigen found = matrix.size <= kSmallMatrix ? by_rotations(matrix) : by_iteration(matrix, count);
  found.values.resize(count);
  found.vectors.resize(count);
  return found;
}

}  // namespace attend
