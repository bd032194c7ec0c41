#include "attend/kernels/chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "attend/base/rng.h"
#include "tests/kernels/targets.h"

namespace attend::kernels {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

// Numbers with others around them, which must stay as they are, at no particular alignment.
struct GuardedDoubles {
  std::vector<double> all;
  size_t size;

  GuardedDoubles(size_t count, uint64_t seed, double range = 2) : all(count + 10, 77), size(count) {
    const RandomStream random(seed, 0);
    for (size_t i = 0; i < count; ++i) {
      data()[i] = range * (static_cast<double>(random.below(i, 2'000'001)) / 1e6 - 1);
    }
  }
  double* data() { return all.data() + 3; }
  bool kept() const {
    for (size_t i = 0; i < all.size(); ++i) {
      if ((i < 3 || i >= 3 + size) && all[i] != 77) return false;
    }
    return true;
  }
};

const std::vector<size_t> kChainSizes = {1, 2, 3, 5, 8, 9, 28, 33, 64, 100};
const std::vector<size_t> kChainColumns = {8, 16, 24, 32, 40, 104};

TEST(Chain, PowersAndLogarithms) {
  for_each_target([] {
    for (const size_t size : kChainSizes) {
      GuardedDoubles x(size, 1, 300), y(size, 2);
      x.data()[size / 2] = kNothing;
      powers_of(x.data(), 2.5, size, y.data());
      for (size_t i = 0; i < size; ++i) {
        const double expected = std::exp(x.data()[i] - 2.5);
        EXPECT_NEAR(y.data()[i], expected, 1e-15 * expected) << x.data()[i];
      }
      EXPECT_EQ(y.data()[size / 2], 0);
      EXPECT_TRUE(y.kept());

      const std::vector<double> powers(y.data(), y.data() + size);
      logarithms_of(y.data(), 0.75, size, y.data());
      for (size_t i = 0; i < size; ++i) {
        if (i == size / 2) continue;
        const double expected = 0.75 + std::log(powers[i]);
        EXPECT_NEAR(y.data()[i], expected, 1e-15 * (std::abs(expected) + 2));
      }
      EXPECT_TRUE(y.kept());
    }
  });
}

TEST(Chain, ProductsAndLargestSums) {
  for_each_target([] {
    for (const size_t m : {1, 3, 28}) {
      for (const size_t n : kChainColumns) {
        GuardedDoubles x(m, 1), a(m * n, 2), y(n, 3), best(n, 4), sums = a;
        std::vector<int32_t> from(n + 2, -7);
        a.data()[n / 2] = kNothing;
        largest_sums(x.data(), a.data(), m, n, best.data(), from.data() + 1);
        for (size_t j = 0; j < n; ++j) {
          int32_t first = 0;
          double largest = x.data()[0] + a.data()[j];
          for (size_t i = 1; i < m; ++i) {
            const double sum = x.data()[i] + a.data()[i * n + j];
            if (sum > largest) largest = sum, first = static_cast<int32_t>(i);
          }
          EXPECT_EQ(best.data()[j], largest);
          EXPECT_EQ(from[j + 1], first);
        }
        EXPECT_TRUE(best.kept());
        EXPECT_EQ(from.front() + from.back(), -14);

        a = sums;
        vector_times_matrix(x.data(), a.data(), m, n, y.data());
        for (size_t j = 0; j < n; ++j) {
          double expected = 0;
          for (size_t i = 0; i < m; ++i) expected += x.data()[i] * a.data()[i * n + j];
          EXPECT_NEAR(y.data()[j], expected, 1e-13);
        }
        EXPECT_TRUE(y.kept());

        add_outer_product(x.data(), y.data(), m, n, sums.data());
        for (size_t i = 0; i < m * n; ++i) {
          EXPECT_NEAR(sums.data()[i], a.data()[i] + x.data()[i / n] * y.data()[i % n], 1e-13);
        }
        EXPECT_TRUE(sums.kept());
      }
    }
  });
}

TEST(Chain, ColumnsArePadded) {
  EXPECT_EQ(padded_for_chain(1), 8u);
  EXPECT_EQ(padded_for_chain(8), 8u);
  EXPECT_EQ(padded_for_chain(9), 16u);
}

TEST(Chain, TheFirstOfTheLargestIsTaken) {
  for_each_target([] {
    const std::vector<double> x(20, 0.5), a(20 * 8, 1.25);
    std::vector<double> y(8);
    std::vector<int32_t> from(8, -1);
    largest_sums(x.data(), a.data(), 20, 8, y.data(), from.data());
    EXPECT_EQ(from, std::vector<int32_t>(8, 0));
    const std::vector<double> never(20, kNothing);
    largest_sums(never.data(), a.data(), 20, 8, y.data(), from.data());
    EXPECT_EQ(y, std::vector<double>(8, kNothing));
    EXPECT_EQ(from, std::vector<int32_t>(8, 0));
  });
}

}  // namespace
}  // namespace attend::kernels
