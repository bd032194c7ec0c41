// Matrices for kernel tests: random, strided, off alignment, and with a frame that must stay
// untouched.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/kernels/rows.h"
#include "tests/kernels/targets.h"

namespace attend::kernels {

class TestRows {
 public:
  // Uniform in [-2, 2), a function of the seed. The first element is one float past an aligned
  // address.
  TestRows(size_t count, size_t width, uint64_t seed = 0, size_t padding = 3)
      : count_(count), width_(width), stride_(width + padding), data_(1 + count * stride_, kFrame) {
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < width; ++j) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        (*this)(i, j) = static_cast<float>(seed >> 40) * 0x1p-22f - 2.0f;
      }
    }
  }

  size_t count() const { return count_; }
  size_t width() const { return width_; }
  float& operator()(size_t i, size_t j) { return data_[1 + i * stride_ + j]; }
  float operator()(size_t i, size_t j) const { return data_[1 + i * stride_ + j]; }
  operator Rows() const { return {data_.data() + 1, count_, width_, stride_}; }
  operator MutableRows() { return {data_.data() + 1, count_, width_, stride_}; }
  float* data() { return data_.data() + 1; }

  bool frame_is_intact() const {
    for (size_t k = 0; k < data_.size(); ++k) {
      if ((k == 0 || (k - 1) % stride_ >= width_) && data_[k] != kFrame) return false;
    }
    return true;
  }
  bool operator==(const TestRows& other) const { return data_ == other.data_; }

 private:
  static constexpr float kFrame = 12345.0f;
  size_t count_, width_, stride_;
  std::vector<float> data_;
};

// expected(i, j) gives a double.
template <typename Expected>
void expect_rows_near(const TestRows& actual, double tolerance, Expected&& expected) {
  for (size_t i = 0; i < actual.count(); ++i) {
    for (size_t j = 0; j < actual.width(); ++j) {
      ASSERT_NEAR(actual(i, j), expected(i, j), tolerance)
          << "at " << i << ", " << j << " of " << actual.count() << " x " << actual.width();
    }
  }
  EXPECT_TRUE(actual.frame_is_intact());
}

template <typename Expected>
void expect_near(const std::vector<float>& actual, double tolerance, Expected&& expected) {
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected(i), tolerance) << "at " << i << " of " << actual.size();
  }
}

// Calls test(count, width) for shapes that leave every remainder, on every SIMD target.
template <typename Test>
void for_each_shape(Test&& test) {
  constexpr size_t kShapes[][2] = {{0, 5},   {3, 0},   {1, 1},   {2, 3},   {5, 4},
                                   {3, 8},   {4, 15},  {7, 33},  {17, 31}, {70, 64},
                                   {9, 127}, {300, 9}, {90, 517}};
  for_each_target([&] {
    for (const auto& [count, width] : kShapes) test(count, width);
  });
}

// Runs `kernel`, which returns what it wrote, on one to three threads: the bits must be the same.
template <typename Kernel>
void expect_same_bits_on_any_threads(Kernel&& kernel) {
  const ThreadCountScope one(1);
  const auto expected = kernel();
  for (const int threads : {2, 3}) {
    const ThreadCountScope more(threads);
    EXPECT_TRUE(kernel() == expected) << threads << " threads";
  }
}

}  // namespace attend::kernels
