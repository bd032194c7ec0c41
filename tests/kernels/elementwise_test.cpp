#include "attend/kernels/elementwise.h"

#include <cmath>

#include "tests/kernels/test_rows.h"
#include "tests/special_values.h"

namespace attend::kernels {
namespace {

constexpr size_t kSizes[] = {0, 1, 7, 8, 16, 31, 100, 40001};

struct BinaryCase {
  const char* name;
  void (*kernel)(const float*, const float*, float*, size_t, bool);
  double (*exact)(double, double);
};
const BinaryCase kBinary[] = {
    {"add", add, [](double a, double b) { return a + b; }},
    {"subtract", subtract, [](double a, double b) { return a - b; }},
    {"multiply", multiply, [](double a, double b) { return a * b; }},
    {"divide", divide, [](double a, double b) { return a / b; }},
};

TEST(Elementwise, BinaryOperationsOverwriteOrAdd) {
  for_each_target([&] {
    for (const auto& [name, kernel, exact] : kBinary) {
      SCOPED_TRACE(name);
      for (const size_t size : kSizes) {
        TestRows a(1, size, 1), b(1, size, 2);
        for (size_t j = 0; j < size; ++j) b(0, j) += b(0, j) < 0 ? -1.0f : 1.0f;
        for (const bool accumulate : {false, true}) {
          TestRows c(1, size, 3);
          const TestRows before = c;
          kernel(a.data(), b.data(), c.data(), size, accumulate);
          expect_rows_near(c, 1e-6, [&](size_t, size_t j) {
            return exact(a(0, j), b(0, j)) + (accumulate ? before(0, j) : 0.0);
          });
        }
        TestRows in_place = a;
        kernel(in_place.data(), b.data(), in_place.data(), size, false);
        expect_rows_near(in_place, 1e-6, [&](size_t, size_t j) { return exact(a(0, j), b(0, j)); });
      }
    }
  });
}

TEST(Elementwise, DivideBackwardIsTheDerivative) {
  for_each_target([&] {
    for (const size_t size : kSizes) {
      TestRows a(1, size, 1), b(1, size, 2), c(1, size), dc(1, size, 4), db(1, size, 5);
      for (size_t j = 0; j < size; ++j) b(0, j) += b(0, j) < 0 ? -1.0f : 1.0f;
      divide(a.data(), b.data(), c.data(), size);
      const TestRows before = db;
      divide_backward({b.data(), c.data(), dc.data(), db.data(), true}, size);
      expect_rows_near(db, 1e-5, [&](size_t, size_t j) {
        const double divisor = b(0, j);
        return before(0, j) - double{dc(0, j)} * a(0, j) / (divisor * divisor);
      });
    }
  });
}

struct UnaryCase {
  const char* name;
  void (*kernel)(const float*, float*, size_t, bool);
  double (*exact)(double);
};
const UnaryCase kUnary[] = {
    {"scale", [](const float* x, float* y, size_t n, bool add) { scale(-1.5f, x, y, n, add); },
     [](double x) { return -1.5 * x; }},
    {"add_scalar",
     [](const float* x, float* y, size_t n, bool add) { add_scalar(x, 0.25f, y, n, add); },
     [](double x) { return x + 0.25; }},
    {"copy",
     [](const float* x, float* y, size_t n, bool add) {
       add ? copy_rows(dense_rows(x, 1, n), dense_rows(y, 1, n), true) : copy(x, y, n);
     },
     [](double x) { return x; }},
    {"fill",
     [](const float*, float* y, size_t n, bool add) {
       if (add) return add_scalar(y, 7.0f, y, n);
       fill(7.0f, y, n);
     },
     [](double) { return 7.0; }},
};

TEST(Elementwise, UnaryOperationsOverwriteOrAdd) {
  for_each_target([&] {
    for (const auto& [name, kernel, exact] : kUnary) {
      SCOPED_TRACE(name);
      for (const size_t size : kSizes) {
        TestRows x(1, size, 1);
        for (const bool accumulate : {false, true}) {
          TestRows y(1, size, 2);
          const TestRows before = y;
          kernel(x.data(), y.data(), size, accumulate);
          expect_rows_near(y, 2e-6, [&](size_t, size_t j) {
            return exact(x(0, j)) + (accumulate ? before(0, j) : 0.0);
          });
        }
      }
    }
  });
}

TEST(Elementwise, SelectTakesWhatTheMaskSays) {
  for_each_target([&] {
    for (const size_t size : kSizes) {
      std::vector<int32_t> mask(size);
      TestRows a(1, size, 1), b(1, size, 2);
      for (size_t j = 0; j < size; ++j) {
        mask[j] = j % 3 == 0;
        (mask[j] ? b : a)(0, j) = kNaN;  // the one that is not chosen
      }
      const auto chosen = [&](size_t, size_t j) -> double { return (mask[j] ? a : b)(0, j); };
      TestRows y(1, size, 3), da(1, size, 4), db(1, size, 5);
      const TestRows da_before = da;
      select(mask.data(), a.data(), b.data(), y.data(), size);
      expect_rows_near(y, 0, chosen);
      select(mask.data(), y.data(), nullptr, da.data(), size, true);
      expect_rows_near(da, 1e-6, [&](size_t, size_t j) {
        return da_before(0, j) + (mask[j] ? double{y(0, j)} : 0.0);
      });
      select(mask.data(), nullptr, y.data(), db.data(), size);
      expect_rows_near(db, 0, [&](size_t, size_t j) { return mask[j] ? 0.0 : double{y(0, j)}; });
    }
  });
}

TEST(Elementwise, VectorsAreSpreadOverRowsAndColumns) {
  for_each_shape([&](size_t count, size_t width) {
    const TestRows x(count, width, 1);
    TestRows row(1, width, 2), column(1, count, 3);
    for (const bool accumulate : {false, true}) {
      TestRows sum(count, width, 4, 5), product = sum, scaled = sum, copied = sum;
      const TestRows before = sum;
      const auto old = [&](size_t i, size_t j) { return accumulate ? double{before(i, j)} : 0.0; };
      add_row_vector(x, row.data(), sum, accumulate);
      multiply_row_vector(x, row.data(), product, accumulate);
      multiply_column_vector(x, column.data(), scaled, accumulate);
      copy_rows(x, copied, accumulate);
      expect_rows_near(sum, 1e-6,
                       [&](size_t i, size_t j) { return old(i, j) + x(i, j) + row(0, j); });
      expect_rows_near(product, 1e-6,
                       [&](size_t i, size_t j) { return old(i, j) + x(i, j) * row(0, j); });
      expect_rows_near(scaled, 1e-6,
                       [&](size_t i, size_t j) { return old(i, j) + x(i, j) * column(0, i); });
      expect_rows_near(copied, 1e-6, [&](size_t i, size_t j) { return old(i, j) + x(i, j); });
    }
  });
}

}  // namespace
}  // namespace attend::kernels
