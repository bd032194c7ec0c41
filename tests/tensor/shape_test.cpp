#include "attend/tensor/shape.h"

#include <gtest/gtest.h>

#include "attend/base/error.h"

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

TEST(Shape, EqualityIsOfExtents) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{6}), (Shape{6, 1}));
}

}  // namespace
}  // namespace attend
