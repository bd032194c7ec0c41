// Principal components against decompositions that are known.
#include "attend/inspect/pca.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "tests/errors.h"

namespace attend {
namespace {

std::vector<float> random_numbers(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  fill_normal(values, Rng(seed).stream(), 0.0f, 1.0f);
  return values;
}

// Orthogonal directions with known variances: points are sums of columns of a Hadamard matrix, each
// of them orthogonal to the others and to a mean.
Tensor known_rows(size_t width, const std::vector<float>& deviations) {
  const size_t rows = 64;
  const auto sign = [](size_t i, size_t j) {
    return __builtin_popcountll(i & j) % 2 == 0 ? 1.0f : -1.0f;
  };
  std::vector<float> values(rows * width, 3.0f);  // a mean that is taken off
  for (size_t i = 0; i < rows; ++i) {
    for (size_t c = 0; c < deviations.size(); ++c) {
      // Direction c: the unit vectors 2c and 2c + 1, turned by 45 degrees.
      const float along = sign(i, c + 1) * deviations[c] * static_cast<float>(M_SQRT1_2);
      values[i * width + 2 * c] += along;
      values[i * width + 2 * c + 1] += c % 2 == 0 ? along : -along;
    }
  }
  return Tensor::of(values, {rows, width});
}

TEST(Pca, FindsKnownDirectionsAndShares) {
  for (const size_t width : {6ul, 63ul, 64ul, 65ul, 100ul}) {  // by columns, and by rows
    const PrincipalComponents found = principal_components(known_rows(width, {1, 4, 2}), 3);
    ASSERT_EQ(found.shares.size(), 3u);
    EXPECT_NEAR(found.shares[0], 16.0 / 21, 1e-6);
    EXPECT_NEAR(found.shares[1], 4.0 / 21, 1e-6);
    EXPECT_NEAR(found.shares[2], 1.0 / 21, 1e-6);
    const auto entry = [&](size_t c, size_t k) { return found.directions.data()[c * width + k]; };
    const float half = static_cast<float>(M_SQRT1_2);
    EXPECT_NEAR(std::abs(entry(0, 2)), half, 1e-5f) << width;
    EXPECT_NEAR(entry(0, 2), -entry(0, 3), 1e-5f);
    EXPECT_NEAR(entry(1, 4), half, 1e-5f);
    EXPECT_NEAR(entry(1, 5), half, 1e-5f);
    EXPECT_NEAR(entry(2, 0), half, 1e-5f);
    EXPECT_NEAR(entry(2, 2), 0.0f, 1e-5f);
    for (size_t i = 0; i < 64; ++i) {
      EXPECT_NEAR(std::abs(found.points.data()[i * 3]), 4.0f, 1e-5f);
    }
  }
}

// From numpy: x = (np.arange(20) ** 2 % 7 + np.arange(20) % 3).reshape(5, 4), less its mean;
// np.linalg.svd(x)[1] ** 2.
TEST(Pca, AgreesWithASingularValueDecomposition) {
  std::vector<float> values;
  for (int i = 0; i < 20; ++i) values.push_back(static_cast<float>(i * i % 7 + i % 3));
  const PrincipalComponents found = principal_components(Tensor::of(values, {5, 4}), 4);
  const std::vector<double> expected = {31.05445381, 14.25754525, 7.86018627, 0.02781466703};
  double sum = 0;
  for (const double square : expected) sum += square;
  for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(found.shares[c], expected[c] / sum, 1e-6);
}

// Of large matrices, which are decomposed by iteration: directions are orthonormal and leave no
// more than the rest.
TEST(Pca, LargeMatricesHaveOrthonormalDirections) {
  const size_t rows = 200, width = 120, count = 5;
  std::vector<float> values = random_numbers(rows * width, 3);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < width; ++k) {
      values[i * width + k] *= 1 + 10 / static_cast<float>(k + 1);
    }
  }
  const PrincipalComponents found = principal_components(Tensor::of(values, {rows, width}), count);
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = 0; b <= a; ++b) {
      double product = 0, points = 0;
      for (size_t k = 0; k < width; ++k) {
        product += double{found.directions.data()[a * width + k]} *
                   double{found.directions.data()[b * width + k]};
      }
      for (size_t i = 0; i < rows; ++i) {
        points +=
            double{found.points.data()[i * count + a]} * double{found.points.data()[i * count + b]};
      }
      EXPECT_NEAR(product, a == b ? 1.0 : 0.0, 1e-5);
      if (a != b) {
        EXPECT_NEAR(points, 0.0, 1e-2);  // uncorrelated
      }
    }
    EXPECT_LE(found.shares[a], found.shares[a > 0 ? a - 1 : 0]);
  }
}

TEST(Pca, HasTheSameBitsForAnyNumberOfThreads) {
  const Tensor rows = Tensor::of(random_numbers(300 * 90, 5), {300, 90});
  const auto by = [&](int threads) {
    const ThreadCountScope scope(threads);
    return principal_components(rows, 4).points.to_vector();
  };
  EXPECT_EQ(by(1), by(3));
}

TEST(Pca, RowsThatDoNotVaryArePointsAtZero) {
  const PrincipalComponents found = principal_components(Tensor::full({4, 3}, 2.0f), 2);
  EXPECT_EQ(found.points.to_vector(), std::vector<float>(8, 0.0f));
  EXPECT_EQ(found.shares, (std::vector<double>{0, 0}));
  // One direction alone.
  const Tensor line = Tensor::of({0, 0, 1, 1, 2, 2}, {3, 2});
  const PrincipalComponents one = principal_components(line, 2);
  EXPECT_NEAR(one.shares[0], 1.0, 1e-9);
  EXPECT_EQ(one.shares[1], 0.0);
}

TEST(Pca, SaysWhatIsWrong) {
  expect_error<DataError>([] { principal_components(Tensor::zeros({1, 3}), 2); }, "at least 2");
  const Tensor bad = Tensor::of({0, 1, NAN, 2}, {2, 2});
  expect_error<DataError>([&] { principal_components(bad, 2); }, "vector 2 is not finite");
}

}  // namespace
}  // namespace attend
