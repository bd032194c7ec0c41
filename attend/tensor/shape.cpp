#include "attend/tensor/shape.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "attend/base/error.h"

namespace attend {
namespace {

// An extent of 0 counts as 1: products of the others are computed as well.
bool countable(std::span<const size_t> extents) {
  size_t size = 1;
  for (const size_t extent : extents) {
    if (__builtin_mul_overflow(size, std::max<size_t>(extent, 1), &size)) return false;
  }
  return size <= Shape::kMaxSize;
}

}  // namespace

bool Shape::fits(std::span<const size_t> extents) {
  return extents.size() <= kMaxRank && countable(extents);
}

Shape::Shape(std::span<const size_t> extents) : rank_(extents.size()) {
  if (rank_ > kMaxRank)
    throw ShapeError("a tensor has at most {} extents, not {}", kMaxRank, rank_);
  std::copy(extents.begin(), extents.end(), extents_.begin());
  check_size();
}

void Shape::check_size() const {
  if (countable({extents_.data(), rank_})) return;
  throw ShapeError("a tensor of shape {} is larger than any memory", text());
}

size_t Shape::size() const {
  return std::accumulate(extents_.begin(), extents_.begin() + rank_, size_t{1},
                         std::multiplies<>());
}

size_t Shape::axis(int axis) const {
  const int rank = static_cast<int>(rank_);
  const int from_start = axis < 0 ? axis + rank : axis;
  if (from_start < 0 || from_start >= rank) {
    throw ShapeError("axis {} does not exist in shape {}", axis, text());
  }
  return static_cast<size_t>(from_start);
}

size_t Shape::operator[](int axis) const { return extents_[this->axis(axis)]; }

void Shape::set(int axis, size_t extent) {
  extents_[this->axis(axis)] = extent;
  check_size();
}

size_t Shape::width() const { return rank_ == 0 ? 1 : extents_[rank_ - 1]; }

size_t Shape::rows() const {
  if (rank_ == 0) return 1;
  return std::accumulate(extents_.begin(), extents_.begin() + rank_ - 1, size_t{1},
                         std::multiplies<>());
}

Shape::Around Shape::around(int axis) const {
  Around a;
  const size_t middle = this->axis(axis);
  for (size_t i = 0; i < rank_; ++i) {
    (i < middle ? a.before : i == middle ? a.at : a.after) *= extents_[i];
  }
  return a;
}

std::string Shape::text() const {
  return fmt::format("[{}]", fmt::join(extents_.begin(), extents_.begin() + rank_, ", "));
}

}  // namespace attend
