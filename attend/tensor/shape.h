// The extents of a tensor, and how they are written in messages.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace attend {

// Up to five extents, the last one contiguous in memory. A scalar has rank 0 and size 1. No product
// of extents is past kMaxSize, so that counting elements or their bytes cannot overflow; what would
// be past it throws ShapeError.
class Shape {
 public:
  static constexpr size_t kMaxRank = 5;
  static constexpr size_t kMaxSize = PTRDIFF_MAX / 8;

  Shape() = default;
  Shape(std::initializer_list<size_t> extents)
      : Shape(std::span(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const size_t> extents);    // throws ShapeError past kMaxRank
  static bool fits(std::span<const size_t> extents);  // whether there can be such a shape

  size_t rank() const { return rank_; }
  size_t size() const;                // number of elements
  size_t operator[](int axis) const;  // a negative axis counts from the end
  void set(int axis, size_t extent);  // the same
  size_t width() const;               // the last extent; 1 for a scalar
  size_t rows() const;                // the product of all the others
  size_t axis(int axis) const;        // a negative axis made positive; throws ShapeError

  // The products of the extents before and after an axis, and the extent at it.
  struct Around {
    size_t before = 1, at = 1, after = 1;
  };
  Around around(int axis) const;

  bool operator==(const Shape&) const = default;
  std::string text() const;  // "[2, 3]"

 private:
  void check_size() const;

  std::array<size_t, kMaxRank> extents_{};
  size_t rank_ = 0;
};

}  // namespace attend

template <>
struct fmt::formatter<attend::Shape> : fmt::formatter<std::string> {
  auto format(const attend::Shape& shape, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(shape.text(), context);
  }
};
