// [batch, heads, length, width], as other libraries have it, and rows.
#include "attend/attention/heads.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/attention/attention.h"
#include "attend/tensor/tape.h"
#include "tests/attention/values.h"

namespace attend {
namespace {

TEST(Heads, ARowHoldsAllHeadsOfAPosition) {
  const size_t batch = 2, heads = 3, length = 4, width = 5;
  const Tensor x = random_tensor({batch, heads, length, width}, 1);
  const Tensor rows = merge_heads(x);
  ASSERT_EQ(rows.shape(), (Shape{batch * length, heads * width}));
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = i % width, t = i / width % length, h = i / width / length % heads,
                 b = i / width / length / heads;
    EXPECT_EQ(x.data()[i], rows.data()[(b * length + t) * heads * width + h * width + c]);
  }
  const Tensor back = split_heads(rows, heads, Packing::even(batch, length));
  EXPECT_EQ(back.shape(), x.shape());
  EXPECT_EQ(back.to_vector(), x.to_vector());
}

TEST(Heads, GradientsGoThereAndBack) {
  Tensor x = random_tensor({2, 3, 4, 5}, 1);
  x.require_grad();
  const Tensor seed = random_tensor({2, 3, 4, 5}, 2);
  backward(split_heads(merge_heads(x), 3, Packing::even(2, 4)), seed);
  EXPECT_EQ(x.grad().to_vector(), seed.to_vector());
}

// softmax(q k^T / sqrt(width)) v of each batch and head, as the loops say.
TEST(Heads, AttentionOfMergedHeadsIsThatOfEachHead) {
  const size_t batch = 2, heads = 2, length = 3, width = 4;
  const Shape shape{batch, heads, length, width};
  const Tensor q = random_tensor(shape, 1), k = random_tensor(shape, 2),
               v = random_tensor(shape, 3);
  const Packing packing = Packing::even(batch, length);
  AttentionOptions options{.heads = heads};
  options.queries = options.keys = packing;
  const Tensor y = split_heads(
      attention(merge_heads(q), merge_heads(k), merge_heads(v), options).output, heads, packing);
  ASSERT_EQ(y.shape(), shape);
  for (size_t head = 0; head < batch * heads; ++head) {
    const auto at = [&](const Tensor& x, size_t t, size_t c) {
      return double{x.data()[(head * length + t) * width + c]};
    };
    for (size_t i = 0; i < length; ++i) {
      std::vector<double> weights(length);
      double sum = 0.0;
      for (size_t j = 0; j < length; ++j) {
        double dot = 0.0;
        for (size_t c = 0; c < width; ++c) dot += at(q, i, c) * at(k, j, c);
        sum += weights[j] = std::exp(dot / std::sqrt(double{width}));
      }
      for (size_t c = 0; c < width; ++c) {
        double expected = 0.0;
        for (size_t j = 0; j < length; ++j) expected += weights[j] / sum * at(v, j, c);
        EXPECT_NEAR(at(y, i, c), expected, 1e-6);
      }
    }
  }
}

TEST(Heads, AnEmptyBatchStaysEmpty) {
  const Tensor rows = merge_heads(Tensor::zeros({0, 2, 3, 4}));
  EXPECT_EQ(rows.shape(), (Shape{0, 8}));
  EXPECT_EQ(split_heads(rows, 2, Packing::even(0, 3)).shape(), (Shape{0, 2, 0, 4}));
}

TEST(Heads, ErrorsNameTheValues) {
  expect_error<ShapeError>(
      [] {
        merge_heads(Tensor::zeros({2, 3, 4}));
      },
      "merge_heads: [2, 3, 4] is not [batch, heads, length, width]");
  const Tensor rows = Tensor::zeros({6, 8});
  expect_error<ShapeError>([&] { split_heads(rows, 3, Packing::even(2, 3)); },
                           "split_heads: [6, 8] is not [6 rows, 3 heads x width]");
  expect_error<ShapeError>([&] { split_heads(rows, 2, Packing::even(2, 2)); }, "[4 rows, 2 heads");
  expect_error<ShapeError>(
      [&] {
        split_heads(rows, 2, Packing::of({3, 1, 2}));
      },
      "sequence 1 has 1 rows but sequence 0 has 3; only sequences of one");
}

}  // namespace
}  // namespace attend
