#include "attend/tensor/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/errors.h"

namespace attend {
namespace {

using Values = std::vector<float>;

const Shape kTwoByThree{2, 3};

TEST(Tensor, HoldsValuesRowByRow) {
  const Tensor x = Tensor::of({1, 2, 3, 4, 5, 6}, kTwoByThree);
  EXPECT_EQ(x.shape(), kTwoByThree);
  EXPECT_EQ(x.to_vector(), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(x.dtype(), DType::kFloat32);
}

TEST(Tensor, RefusesTheWrongNumberOfValues) {
  EXPECT_THROW(Tensor::of({1, 2, 3}, kTwoByThree), ShapeError);
  EXPECT_THROW(Tensor::ids(std::vector<int32_t>{1, 2, 3}, kTwoByThree), ShapeError);
}

TEST(Tensor, HoldsIds) {
  const Tensor x = Tensor::ids({3, 1, 2});
  EXPECT_EQ(x.dtype(), DType::kInt32);
  EXPECT_EQ(x.indices()[0], 3);
  EXPECT_EQ(x.shape(), Shape{3});
}

TEST(Tensor, CopiesAreHandles) {
  const Tensor x = Tensor::zeros({2});
  const Tensor y = x;  // NOLINT: the copy is what is tested
  y.data()[1] = 5;
  EXPECT_EQ(x.to_vector(), (Values{0, 5}));
}

TEST(Tensor, UndefinedHoldsNothing) { EXPECT_FALSE(Tensor().defined()); }

TEST(Tensor, MayHaveAShapeBeforeItHasMemory) {
  Tensor x = Tensor::unallocated({2, 3});
  const Tensor view = x.slice_columns(1, 2), leaf = x.require_grad();
  EXPECT_TRUE(x.defined());
  EXPECT_FALSE(x.allocated() || view.allocated() || leaf.allocated());
  EXPECT_EQ(x.size(), 6u);
  view.allocate();
  EXPECT_TRUE(x.allocated() && view.allocated() && leaf.allocated());
  std::ranges::fill(leaf.span(), 2.0f);
  EXPECT_EQ(view.to_vector(), (Values{2, 2, 2, 2}));
  EXPECT_FALSE(Tensor().allocated());
}

TEST(Tensor, ThatMemoryCannotHoldSaysWhatWasAskedFor) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer ends the program";
#endif
  const std::string message = message_of<MemoryError>([] {
    Tensor::zeros({1'000'000, 1'000'000'000});
  });
  EXPECT_TRUE(message.starts_with("out of memory: asked for 3725290.3 GB")) << message;
  EXPECT_TRUE(message.ends_with("for a tensor of shape [1000000, 1000000000]")) << message;
}

TEST(Tensor, ReshapeSharesMemory) {
  const Tensor x = Tensor::of({1, 2, 3, 4, 5, 6}, kTwoByThree);
  const Tensor y = x.reshape({3, 2});
  y.data()[5] = 60;
  EXPECT_EQ(x.to_vector().back(), 60);
  EXPECT_THROW(x.reshape({4, 2}), ShapeError);
}

TEST(Tensor, SlicesOfRowsShareMemory) {
  const Tensor x = Tensor::of({1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_EQ(x.slice_rows(1, 2).to_vector(), (Values{3, 4, 5, 6}));
  EXPECT_EQ(x.slice_rows(1, 1).slice_rows(0, 1).to_vector(), (Values{3, 4}));
  EXPECT_EQ(x.slice_rows(3, 0).size(), 0u);
  x.slice_rows(2, 1).data()[0] = 50;
  EXPECT_EQ(x.to_vector()[4], 50);
}

TEST(Tensor, SliceOfAVectorIsAVector) {
  const Tensor x = Tensor::of({1, 2, 3, 4}, {4});
  EXPECT_EQ(x.slice_rows(1, 2).to_vector(), (Values{2, 3}));
}

TEST(Tensor, SlicesOfColumnsAreStrided) {
  const Tensor x = Tensor::of({1, 2, 3, 4, 5, 6}, kTwoByThree);
  const Tensor y = x.slice_columns(1, 2);
  EXPECT_FALSE(y.contiguous());
  EXPECT_EQ(y.stride(), 3u);
  EXPECT_EQ(y.to_vector(), (Values{2, 3, 5, 6}));
  EXPECT_EQ(y.slice_rows(1, 1).to_vector(), (Values{5, 6}));
  EXPECT_EQ(y.slice_columns(1, 1).to_vector(), (Values{3, 6}));
}

TEST(Tensor, BlocksOfColumnsKeepTheirWidthInAReshape) {
  const Tensor y = Tensor::of({1, 2, 3, 4, 5, 6}, kTwoByThree).slice_columns(0, 2);
  EXPECT_EQ(y.reshape({2, 1, 2}).to_vector(), (Values{1, 2, 4, 5}));
  EXPECT_THROW(y.reshape({4}), ShapeError);
}

TEST(Tensor, SliceOutOfRangeNamesTheShape) {
  const Tensor x = Tensor::zeros(kTwoByThree);
  EXPECT_EQ(message_of([&] { x.slice_rows(1, 2); }),
            "slice: rows 1 to 3 are not within shape [2, 3]");
  EXPECT_THROW(x.slice_columns(3, 1), ShapeError);
  EXPECT_THROW(x.slice_columns(0, static_cast<size_t>(-1)), ShapeError);
}

TEST(Tensor, ItemIsOfOneElement) {
  EXPECT_EQ(Tensor::full({}, 3.0f).item(), 3.0f);
  EXPECT_THROW(Tensor::zeros(kTwoByThree).item(), ShapeError);
}

// In every build: what would be read is not what was written.
TEST(Tensor, IdsAreNotReadAsValuesNorValuesAsIds) {
  const Tensor ids = Tensor::ids({1, 2, 3}), values = Tensor::of({1, 2}, {2});
  expect_error<ShapeError>([&] { ids.data(); }, "tensor: [3] holds int32 ids, not values");
  expect_error<ShapeError>([&] { ids.to_vector(); }, "holds int32 ids");
  expect_error<ShapeError>([&] { values.indices(); }, "tensor: [2] holds values, not int32 ids");
  expect_error<ShapeError>([] { Tensor().data(); }, "tensor: undefined");
}

TEST(Tensor, IdsHaveNoGradient) { EXPECT_THROW(Tensor::ids({1}).require_grad(), ShapeError); }

}  // namespace
}  // namespace attend
