#include "attend/tensor/shape.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/errors.h"

namespace attend {
namespace {

TEST(Shape, CountsElementsRowsAndWidth) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3u);
  EXPECT_EQ(shape.size(), 24u);
  EXPECT_EQ(shape.rows(), 6u);
  EXPECT_EQ(shape.width(), 4u);
}

TEST(Shape, ScalarHasOneElement) {
  const Shape shape{};
  EXPECT_EQ(shape.rank(), 0u);
  EXPECT_EQ(shape.size(), 1u);
  EXPECT_EQ(shape.rows(), 1u);
  EXPECT_EQ(shape.width(), 1u);
}

TEST(Shape, NegativeAxisCountsFromTheEnd) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape[-1], 4u);
  EXPECT_EQ(shape[-3], 2u);
  EXPECT_THROW(shape[3], ShapeError);
  EXPECT_THROW(shape[-4], ShapeError);
}

TEST(Shape, PrintsAsAList) {
  EXPECT_EQ((Shape{2, 3}).text(), "[2, 3]");
  EXPECT_EQ(Shape{}.text(), "[]");
  EXPECT_EQ(fmt::format("{}", Shape{7}), "[7]");
}

TEST(Shape, RefusesTooManyExtents) { EXPECT_THROW((Shape{1, 2, 3, 4, 5, 6}), ShapeError); }

// Counting elements, rows or bytes must not wrap round, whatever a file or a config claims.
TEST(Shape, RefusesMoreThanAnyMemoryHas) {
  constexpr size_t kHuge = size_t{1} << 62;
  for (const std::vector<size_t>& extents : {std::vector<size_t>{kHuge},
                                             {kHuge, 4},
                                             {4, kHuge},
                                             {size_t{1} << 32, size_t{1} << 32},
                                             {kHuge, 0},
                                             {0, kHuge, kHuge},
                                             {SIZE_MAX},
                                             {3, SIZE_MAX / 3}}) {
    EXPECT_FALSE(Shape::fits(extents));
    EXPECT_THROW(Shape{extents}, ShapeError);
  }
  EXPECT_FALSE(Shape::fits(std::vector<size_t>(6, 1)));
  const std::vector<size_t> largest = {Shape::kMaxSize}, empty = {1'000'000'000'000, 0, 5};
  EXPECT_TRUE(Shape::fits(largest));
  EXPECT_EQ(Shape(largest).size(), Shape::kMaxSize);
  EXPECT_EQ(Shape(empty).size(), 0u);
  Shape shape{2, 3};
  EXPECT_EQ(message_of([&] { shape.set(0, kHuge); }),
            "a tensor of shape [4611686018427387904, 3] is larger than any memory");
}

TEST(Shape, EqualityIsOfExtents) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{6}), (Shape{6, 1}));
}

}  // namespace
}  // namespace attend
