// The extents of a tensor, and how messages show them.
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
// of extents exceeds kMaxSize, so that counts of elements and bytes cannot overflow; a shape that
// would exceed it throws ShapeError.
class Shape {
 public:
  // The most extents, and the most elements.
  static constexpr size_t kMaxRank = 5;
  static constexpr size_t kMaxSize = PTRDIFF_MAX / 8;

  Shape() = default;
  Shape(std::initializer_list<size_t> extents)
      : Shape(std::span(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const size_t> extents);    // throws ShapeError for too many
  static bool fits(std::span<const size_t> extents);  // whether they are a valid shape

  size_t rank() const { return rank_; }  // number of extents
  size_t size() const;                   // number of elements
  size_t operator[](int axis) const;     // a negative axis counts from the end
  void set(int axis, size_t extent);     // sets one
  size_t width() const;                  // the last extent; 1 for a scalar
  size_t rows() const;                   // the product of all other extents
  // A negative axis as a positive one; throws ShapeError if out of range.
  size_t axis(int axis) const;

  // The products of the extents before and after an axis, and the extent at it.
  struct Around {
    size_t before = 1, at = 1, after = 1;
  };
  Around around(int axis) const;  // of this axis

  bool operator==(const Shape&) const = default;
  std::string text() const;  // "[2, 3]"

 private:
  void check_size() const;

  std::array<size_t, kMaxRank> extents_{};
  size_t rank_ = 0;
};

}  // namespace attend

// Prints Shape::text().
template <>
struct fmt::formatter<attend::Shape> : fmt::formatter<std::string> {
  auto format(const attend::Shape& shape, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(shape.text(), context);
  }
};
