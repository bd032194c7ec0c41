#include "attend/inspect/pca.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/inspect/symmetric_eigen.h"

namespace attend {
namespace {

constexpr size_t kPcaRowsOfThread = 8;

// Rows without their mean, in double precision.
struct Centred {
  size_t rows, width;
  std::vector<double> values;  // (rows x width)

  explicit Centred(const Tensor& x) : rows(x.rows()), width(x.width()), values(rows * width) {
    std::vector<double> mean(width);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t k = 0; k < width; ++k) {
        const double value = x.data()[i * x.stride() + k];
        if (!std::isfinite(value)) throw DataError("pca: vector {} is not finite", i + 1);
        values[i * width + k] = value;
        mean[k] += value;
      }
    }
    for (double& sum : mean) sum /= static_cast<double>(rows);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t k = 0; k < width; ++k) values[i * width + k] -= mean[k];
    }
  }

  const double* row(size_t i) const { return values.data() + i * width; }

  std::vector<double> transposed() const {
    std::vector<double> columns(values.size());
    for (size_t i = 0; i < rows; ++i) {
      for (size_t k = 0; k < width; ++k) columns[k * rows + i] = values[i * width + k];
    }
    return columns;
  }
};

double product(const double* a, const double* b, size_t size) {
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

// The products of all rows with each other.
SquareMatrix products_of(const std::vector<double>& x, size_t rows, size_t width) {
  SquareMatrix products(rows);
  parallel_for(rows, kPcaRowsOfThread, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        products.row(i)[j] = product(x.data() + i * width, x.data() + j * width, width);
      }
    }
  });
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < i; ++j) products.row(j)[i] = products.row(i)[j];
  }
  return products;
}

// Of length 1, its largest entry positive; zeros where it is none.
void orient(std::vector<double>& direction) {
  const double length = std::sqrt(product(direction.data(), direction.data(), direction.size()));
  if (!(length > 0)) return;
  const auto by_size = [](double a, double b) { return std::abs(a) < std::abs(b); };
  const double largest = *std::ranges::max_element(direction, by_size);
  for (double& value : direction) value /= largest < 0 ? -length : length;
}

}  // namespace

PrincipalComponents principal_components(const Tensor& rows, size_t count) {
  if (rows.rows() < 2) {
    throw DataError("pca: {} vectors have no directions in which they vary; give at least 2",
                    rows.rows());
  }
  const Centred x(rows);
  count = std::min({count, x.rows, x.width});
  double whole = 0;
  for (const double value : x.values) whole += value * value;
  // The smaller of the products of columns and those of rows: they have the same eigenvalues.
  const bool by_columns = x.width <= x.rows;
  const Eigen eigen = by_columns
                          ? largest_eigen(products_of(x.transposed(), x.width, x.rows), count)
                          : largest_eigen(products_of(x.values, x.rows, x.width), count);
  PrincipalComponents found{.points = Tensor::zeros({x.rows, count}),
                            .directions = Tensor::zeros({count, x.width})};
  for (size_t c = 0; c < count; ++c) {
    const double value = std::max(eigen.values[c], 0.0);
    const bool varies = value > 1e-12 * whole;
    found.shares.push_back(varies ? value / whole : 0.0);
    if (!varies) continue;
    std::vector<double> direction = eigen.vectors[c];
    if (!by_columns) {
      direction.assign(x.width, 0.0);
      for (size_t i = 0; i < x.rows; ++i) {
        for (size_t k = 0; k < x.width; ++k) direction[k] += eigen.vectors[c][i] * x.row(i)[k];
      }
    }
    orient(direction);
    std::ranges::transform(direction, found.directions.data() + c * x.width,
                           [](double v) { return static_cast<float>(v); });
    for (size_t i = 0; i < x.rows; ++i) {
      found.points.data()[i * count + c] =
          static_cast<float>(product(x.row(i), direction.data(), x.width));
    }
  }
  return found;
}

}  // namespace attend
