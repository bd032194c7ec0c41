#include "attend/kernels/reduce.h"

#include "tests/kernels/test_rows.h"

namespace attend::kernels {
namespace {

TEST(Reduce, SumsToOneNumber) {
  for_each_target([&] {
    for (const size_t size : {0, 1, 5, 16, 33, 1000, 100003}) {
      TestRows x(1, size, 1);
      double total = 0;
      for (size_t j = 0; j < size; ++j) total += x(0, j);
      EXPECT_NEAR(sum(x.data(), size), total, 1e-9);
    }
  });
}

TEST(Reduce, SumsOverRowsAndColumns) {
  for_each_shape([&](size_t count, size_t width) {
    const TestRows x(count, width, 1), y(count, width, 2, 4);
    std::vector<double> down(width), down_product(width), along(count), along_product(count);
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < width; ++j) {
        const double product = double{x(i, j)} * y(i, j);
        down[j] += x(i, j);
        down_product[j] += product;
        along[i] += x(i, j);
        along_product[i] += product;
      }
    }
    for (const bool add : {false, true}) {
      const double old = add ? 0.5 : 0.0;
      std::vector<float> total(width, 0.5f), product(width, 0.5f), row(count, 0.5f),
          dots(count, 0.5f);
      sum_rows(x, total.data(), add);
      multiply_sum_rows(x, y, product.data(), add);
      sum_columns(x, row.data(), add);
      dot_rows(x, y, dots.data(), add);
      expect_near(total, 5e-5, [&](size_t j) { return old + down[j]; });
      expect_near(product, 5e-5, [&](size_t j) { return old + down_product[j]; });
      expect_near(row, 5e-5, [&](size_t i) { return old + along[i]; });
      expect_near(dots, 5e-5, [&](size_t i) { return old + along_product[i]; });
    }
  });
}

TEST(Reduce, SameBitsOnAnyThreads) {
  TestRows x(900, 201, 1);
  expect_same_bits_on_any_threads([&] {
    std::vector<float> total(201);
    sum_rows(x, total.data());
    total.push_back(static_cast<float>(sum(x.data(), 900 * 201)));
    return total;
  });
}

}  // namespace
}  // namespace attend::kernels
