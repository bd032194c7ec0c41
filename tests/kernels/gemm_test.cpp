// Products of every form, against a plain sum in double.
#include "attend/kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/kernels/scratch.h"
#include "tests/kernels/targets.h"
#include "tests/special_values.h"

namespace attend::kernels {
namespace {

// A matrix with a gap after each row and at an odd address; the gap is NaN, so that a read shows.
struct Operand {
  Operand(size_t rows, size_t columns, bool by_columns, std::mt19937& random)
      : stride((by_columns ? rows : columns) + 3),
        transposed(by_columns),
        values((by_columns ? columns : rows) * stride + 1, kNaN) {
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) at(i, j) = uniform(random);
    }
  }
  float& at(size_t i, size_t j) {
    return values[1 + (transposed ? j * stride + i : i * stride + j)];
  }
  Matrix matrix() { return {values.data() + 1, stride, transposed}; }
  MutableMatrix out() { return {values.data() + 1, stride}; }

  size_t stride;
  bool transposed;
  std::vector<float> values;
};

struct GemmCase {
  size_t m, n, k;
  bool a_transposed = false, b_transposed = false;
  float alpha = 1.0f, beta = 0.0f;
  bool bias = false, preactivation = false, residual = false, residual_is_c = false;
  Activation activation = Activation::kIdentity;
  bool packed = false;
};

void PrintTo(const GemmCase& x, std::ostream* out) {
  *out << x.m << " x " << x.n << " x " << x.k << (x.a_transposed ? " T" : " N")
       << (x.b_transposed ? "T" : "N") << " alpha " << x.alpha << " beta " << x.beta << " bias "
       << x.bias << " preactivation " << x.preactivation << " residual " << x.residual
       << x.residual_is_c << " activation " << static_cast<int>(x.activation) << " packed "
       << x.packed;
}

// The operands of a case, filled from its sizes alone, so that it can be run again.
struct Product {
  explicit Product(const GemmCase& the_case)
      : x(the_case),
        random(static_cast<unsigned>(x.m * 7919 + x.n * 104729 + x.k)),
        a(x.m, x.k, x.a_transposed, random),
        b(x.k, x.n, x.b_transposed, random),
        c(x.m, x.n, false, random),
        bias(1, x.n, false, random),
        residual(x.m, x.n, false, random),
        preactivation(x.m, x.n, false, random),
        before(c) {
    // What must not be read is NaN.
    if (x.beta == 0.0f && !x.residual_is_c) std::fill(c.values.begin(), c.values.end(), kNaN);
  }

  GemmOptions options() {
    return {.alpha = x.alpha,
            .beta = x.beta,
            .bias = x.bias ? bias.matrix().data : nullptr,
            .activation = x.activation,
            .preactivation = x.preactivation ? preactivation.out() : MutableMatrix{nullptr, 0},
            .residual = x.residual_is_c ? c.matrix()
                        : x.residual    ? residual.matrix()
                                        : Matrix{nullptr, 0}};
  }

  void run() {
    if (x.packed) {
      gemm(x.m, a.matrix(), PackedMatrix(x.k, x.n, b.matrix()), c.out(), options());
    } else {
      gemm(x.m, x.n, x.k, a.matrix(), b.matrix(), c.out(), options());
    }
  }

  void expect_right() {
    std::vector<double> product(x.n);
    for (size_t i = 0; i < x.m; ++i) {
      std::fill(product.begin(), product.end(), 0.0);
      for (size_t k = 0; k < x.k; ++k) {
        const double left = a.at(i, k);
        for (size_t j = 0; j < x.n; ++j) product[j] += left * b.at(k, j);
      }
      for (size_t j = 0; j < x.n; ++j) {
        expect_right(i, j, product[j]);
        if (testing::Test::HasFatalFailure()) FAIL() << "at " << i << ", " << j;
      }
    }
    expect_gaps_untouched();
  }

  void expect_right(size_t i, size_t j, double product) {
    double z = x.alpha * product;
    if (x.beta != 0.0f) z += static_cast<double>(x.beta) * before.at(i, j);
    if (x.bias) z += bias.at(0, j);
    const double bound = 2e-7 * (8 + static_cast<double>(x.k)) + 1e-6 * std::abs(z);
    if (x.preactivation) {
      ASSERT_NEAR(preactivation.at(i, j), z, bound);
    }
    float y = static_cast<float>(z);
    activate(x.activation, &y, &y, 1);
    if (x.residual_is_c) y += before.at(i, j);
    if (x.residual) y += residual.at(i, j);
    ASSERT_NEAR(c.at(i, j), y, 2 * bound + 1e-6 * std::abs(y));
  }

  void expect_gaps_untouched() {
    for (size_t i = 0; i < x.m; ++i) {
      for (size_t j = x.n; j < c.stride; ++j) ASSERT_TRUE(std::isnan(c.at(i, j)));
    }
  }

  GemmCase x;
  std::mt19937 random;
  Operand a, b, c, bias, residual, preactivation, before;
};

void check(const GemmCase& x) {
  SCOPED_TRACE(testing::PrintToString(x));
  Product product(x);
  product.run();
  product.expect_right();
}

void check_forms(size_t m, size_t n, size_t k) {
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      check({.m = m, .n = n, .k = k, .a_transposed = a_transposed, .b_transposed = b_transposed});
    }
  }
}

bool same_bits(const Operand& x, const Operand& y) {
  return std::memcmp(x.values.data(), y.values.data(), x.values.size() * sizeof(float)) == 0;
}

TEST(Gemm, MultipliesAnySmallSizes) {
  std::mt19937 random(1);
  std::uniform_int_distribution<size_t> size(1, 70);
  std::vector<std::array<size_t, 3>> sizes(25);
  for (auto& [m, n, k] : sizes) m = size(random), n = size(random), k = size(random);
  for_each_target([&] {
    for (const auto& [m, n, k] : sizes) check_forms(m, n, k);
  });
}

TEST(Gemm, MultipliesAroundBlockBorders) {
  for_each_target([] {
    for (const size_t m : {131, 132, 133, 143, 144, 145, 255, 256, 257}) check_forms(m, 33, 17);
    for (const size_t k : {255, 256, 257, 511, 512, 513}) check_forms(13, 20, k);
    for (const size_t n : {255, 256, 257, 511, 512, 513}) check_forms(140, n, 9);
    check_forms(20, 150, 520);
  });
}

TEST(Gemm, MultipliesMoreThanOneGroupOfColumns) { check({.m = 133, .n = 1100, .k = 1030}); }

TEST(Gemm, MultipliesFewRows) {
  for_each_target([] {
    for (size_t m = 1; m <= 7; ++m) {
      for (const size_t n : {1, 15, 31, 64, 200}) {
        check_forms(m, n, 77);
        check_forms(m, n, 515);
      }
    }
    check_forms(1, 1000, 513);
  });
}

TEST(Gemm, DoesNothingWithoutRowsOrColumns) {
  for_each_target([] {
    for (const bool packed : {false, true}) {
      check({.m = 0, .n = 5, .k = 5, .packed = packed});
      check({.m = 5, .n = 0, .k = 5, .packed = packed});
    }
  });
}

TEST(Gemm, SumOfNothingIsZero) {
  for_each_target([] {
    for (const size_t m : {1, 9, 300}) {
      for (const bool packed : {false, true}) {
        check({.m = m, .n = 37, .k = 0, .packed = packed});
        check({.m = m,
               .n = 37,
               .k = 0,
               .beta = 0.5f,
               .bias = true,
               .activation = Activation::kTanh,
               .packed = packed});
      }
    }
  });
}

TEST(Gemm, ScalesAndAdds) {
  for_each_target([] {
    for (const size_t m : {1, 3, 40, 150}) {
      for (const size_t k : {20, 600}) {
        check({.m = m, .n = 50, .k = k, .alpha = 0.25f});
        check({.m = m, .n = 50, .k = k, .alpha = -2.0f, .beta = 1.0f});
        check({.m = m, .n = 50, .k = k, .b_transposed = true, .alpha = 0.5f, .beta = -0.75f});
      }
    }
  });
}

TEST(Gemm, AppliesEveryEpilogue) {
  for_each_target([] {
    for (int f = 0; f <= static_cast<int>(Activation::kSoftplus); ++f) {
      check({.m = 20,
             .n = 35,
             .k = 30,
             .bias = true,
             .preactivation = true,
             .activation = static_cast<Activation>(f)});
    }
    for (const size_t m : {1, 2, 20}) {
      for (const size_t k : {30, 515}) {
        for (unsigned set = 0; set < 32; ++set) {
          check({.m = m,
                 .n = 67,
                 .k = k,
                 .beta = set & 1 ? 0.5f : 0.0f,
                 .bias = (set & 2) != 0,
                 .preactivation = (set & 4) != 0,
                 .residual = (set & 8) != 0,
                 .activation = set & 16 ? Activation::kSigmoid : Activation::kIdentity});
        }
      }
    }
  });
}

TEST(Gemm, ResidualMayBeTheResult) {
  for_each_target([] {
    for (const size_t m : {1, 20, 140}) {
      for (const size_t k : {30, 600}) {
        check({.m = m,
               .n = 67,
               .k = k,
               .bias = true,
               .residual_is_c = true,
               .activation = Activation::kTanh});
        check({.m = m, .n = 64, .k = k, .beta = 2.0f, .residual_is_c = true});
      }
    }
  });
}

TEST(Gemm, PackedGivesTheBitsOfPlain) {
  for_each_target([] {
    for (const size_t m : {1, 2, 5, 7, 40, 132, 133, 300}) {
      for (const bool transposed : {false, true}) {
        const GemmCase x{.m = m, .n = 93, .k = 600, .b_transposed = transposed, .bias = true};
        Product plain(x), packed(x);
        packed.x.packed = true;
        plain.run();
        packed.run();
        packed.expect_right();
        EXPECT_TRUE(same_bits(plain.c, packed.c)) << m << " rows";
      }
    }
  });
}

TEST(Gemm, BitsOfARowDoNotDependOnTheOtherRows) {
  for_each_target([] {
    for (const bool transposed : {false, true}) {
      Product all({.m = 300, .n = 93, .k = 601, .b_transposed = transposed});
      Product some = all;
      all.run();
      for (const size_t rows : {1, 2, 3, 4, 5, 6, 50}) {
        gemm(rows, 93, 601, some.a.matrix(), some.b.matrix(), some.c.out());
        for (size_t i = 0; i < rows; ++i) {
          EXPECT_EQ(std::memcmp(&some.c.at(i, 0), &all.c.at(i, 0), 93 * sizeof(float)), 0)
              << rows << ", " << i;
        }
      }
    }
  });
}

TEST(Gemm, ThreadsDoNotChangeTheBits) {
  const auto bits = [](const GemmCase& x, int threads) {
    const ThreadCountScope scope(threads);
    Product product(x);
    product.run();
    return product.c;
  };
  for_each_target([&] {
    for (const auto& [m, n, k] : {std::array<size_t, 3>{1, 900, 70},
                                  {5, 300, 70},
                                  {100, 150, 50},
                                  {140, 50, 520},
                                  {300, 64, 64}}) {
      for (const bool packed : {false, true}) {
        const GemmCase x{.m = m,
                         .n = n,
                         .k = k,
                         .a_transposed = true,
                         .b_transposed = true,
                         .bias = true,
                         .activation = Activation::kRelu,
                         .packed = packed};
        const Operand one = bits(x, 1);
        EXPECT_TRUE(same_bits(one, bits(x, 2))) << testing::PrintToString(x);
        EXPECT_TRUE(same_bits(one, bits(x, 4))) << testing::PrintToString(x);
      }
    }
  });
}

TEST(Gemm, BatchIsOneProductAfterAnother) {
  for_each_target([] {
    for (const auto& [count, m, n, k] : {std::array<size_t, 4>{0, 3, 3, 3},
                                         {1, 40, 30, 20},
                                         {17, 5, 7, 9},
                                         {9, 40, 33, 50},
                                         {3, 300, 300, 190}}) {
      std::mt19937 random(3);
      Operand a(count * m, k, false, random), b(count * n, k, false, random),
          c(count * m, n, false, random);
      Operand expected = c;
      const Matrix b_transposed{b.matrix().data, b.stride, true};
      const GemmOptions options{.alpha = 0.5f, .beta = 1.0f};
      gemm_batch({count, m * a.stride, n * b.stride, m * c.stride}, m, n, k, a.matrix(),
                 b_transposed, c.out(), options);
      for (size_t i = 0; i < count; ++i) {
        gemm(m, n, k, {&a.at(i * m, 0), a.stride}, {&b.at(i * n, 0), b.stride, true},
             {&expected.at(i * m, 0), c.stride}, options);
      }
      EXPECT_TRUE(same_bits(c, expected)) << count << " of " << m << " x " << n << " x " << k;
    }
  });
}

TEST(Gemm, PackedMatrixKnowsItsSize) {
  std::mt19937 random(4);
  Operand b(5, 7, false, random);
  const PackedMatrix packed(5, 7, b.matrix());
  EXPECT_EQ(packed.rows(), 5u);
  EXPECT_EQ(packed.columns(), 7u);
  EXPECT_FALSE(packed.empty());
  EXPECT_TRUE(PackedMatrix().empty());
}

TEST(Gemm, PacksColumnsInTheirOwnMemory) {
  for_each_target([] {
    for (const size_t n : {1, 15, 16, 64, 65, 96}) {  // whole panels stay where they are
      const size_t k = 37;
      std::mt19937 random(1);
      std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
      std::vector<float> columns(n * k), row(k), expected(n), actual(n), column(k);
      for (float& x : columns) x = uniform(random);
      for (float& x : row) x = uniform(random);
      gemm(1, n, k, {row.data(), k}, {columns.data(), k, true}, {expected.data(), n});

      const auto storage = std::make_shared<Storage>(columns.size() * sizeof(float));
      std::ranges::copy(columns, static_cast<float*>(storage->data()));
      const PackedMatrix packed = PackedMatrix::from_columns(k, n, storage);
      EXPECT_EQ(packed.rows(), k);
      EXPECT_EQ(packed.columns(), n);
      EXPECT_TRUE(n % 32 != 0 || packed.data() == storage->data());
      gemm(1, {row.data(), k}, packed, {actual.data(), n});
      EXPECT_EQ(actual, expected) << n;
      for (size_t j = 0; j < n; ++j) {
        packed.copy_column(j, 2.0f, column.data());
        for (size_t i = 0; i < k; ++i) ASSERT_EQ(column[i], 2 * columns[j * k + i]) << n;
      }
    }
  });
}

TEST(Scratch, IsGivenBackAndTakenAgain) {
  constexpr size_t kSize = 200;
  const std::vector<float> a(kSize * kSize, 0.5f);
  std::vector<float> before(kSize * kSize), after(kSize * kSize);
  gemm(kSize, kSize, kSize, {a.data(), kSize}, {a.data(), kSize}, {before.data(), kSize});
  EXPECT_GT(scratch_bytes(), 0u);
  release_scratch();
  EXPECT_EQ(scratch_bytes(), 0u);
  gemm(kSize, kSize, kSize, {a.data(), kSize}, {a.data(), kSize}, {after.data(), kSize});
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace attend::kernels
