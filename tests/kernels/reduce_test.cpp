#include "attend/kernels/reduce.h"

#include <cmath>
#include <limits>

#include "tests/kernels/test_rows.h"

namespace attend::kernels {
namespace {

TEST(Reduce, SumsToOneNumber) {
  for_each_target([&] {
    for (const size_t size : {0, 1, 5, 16, 33, 1000, 100003}) {
      TestRows x(1, size, 1), y(1, size, 2);
      double total = 0, product = 0, squares = 0;
      for (size_t j = 0; j < size; ++j) {
        total += x(0, j);
        product += double{x(0, j)} * y(0, j);
        squares += double{x(0, j)} * x(0, j);
      }
      EXPECT_NEAR(sum(x.data(), size), total, 1e-9);
      EXPECT_NEAR(dot(x.data(), y.data(), size), product, 1e-8);
      EXPECT_NEAR(sum_of_squares(x.data(), size), squares, 1e-7);
      EXPECT_NEAR(mean(x.data(), size), size == 0 ? 0 : total / static_cast<double>(size), 1e-12);
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

TEST(Reduce, LargestAndItsPlace) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for_each_shape([&](size_t count, size_t width) {
    if (width == 0) return;
    TestRows x(count, width, 1);
    std::vector<size_t> place(count);
    for (size_t i = 0; i < count; ++i) {
      place[i] = i * 5 % width;
      x(i, place[i]) = 9.0f;
      if (place[i] + 3 < width) x(i, place[i] + 3) = 9.0f;  // the first of equals counts
      if (place[i] > 0) x(i, 0) = -kInf;
    }
    std::vector<float> largest(count);
    std::vector<int32_t> found(count);
    max_rows(x, largest.data());
    argmax_rows(x, found.data());
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(largest[i], 9.0f);
      EXPECT_EQ(found[i], static_cast<int32_t>(place[i])) << count << " x " << width;
      x(i, width - 1) = std::numeric_limits<float>::quiet_NaN();
    }
    max_rows(x, largest.data());
    argmax_rows(x, found.data());
    for (size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(std::isnan(largest[i]));
      EXPECT_EQ(found[i], static_cast<int32_t>(width - 1));
    }
  });
}

TEST(Reduce, RowThatIsMaskedThroughout) {
  TestRows x(1, 21);
  for (size_t j = 0; j < 21; ++j) x(0, j) = -std::numeric_limits<float>::infinity();
  for_each_target([&] {
    float largest = 0;
    int32_t place = -1;
    max_rows(x, &largest);
    argmax_rows(x, &place);
    EXPECT_EQ(largest, -std::numeric_limits<float>::infinity());
    EXPECT_EQ(place, 0);
  });
}

}  // namespace
}  // namespace attend::kernels
