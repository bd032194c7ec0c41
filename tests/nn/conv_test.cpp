#include <gtest/gtest.h>

#include "attend/base/error.h"
#include "attend/nn/conv1d.h"
#include "attend/nn/conv2d.h"
#include "attend/tensor/tape.h"
#include "tests/names.h"

namespace attend {
namespace {

Tensor random_input(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  fill_uniform(x.span(), RandomStream(9, 0), -1.0f, 1.0f);
  return x;
}

TEST(Conv1dLayer, SameAndCausalKeepEveryLength) {
  const Packing packing = Packing::of({3, 0, 8, 1});
  Rng rng(1);
  for (const size_t kernel : {1, 2, 3, 4}) {
    for (const auto padding : {ConvPadding::kSame, ConvPadding::kCausal}) {
      const Conv1d conv({.in = 4, .out = 6, .kernel = kernel, .dilation = 2, .padding = padding},
                        rng);
      const auto y = conv(random_input({12, 4}), packing);
      EXPECT_EQ(y.packing, packing);
      EXPECT_EQ(y.rows.shape(), (Shape{12, 6}));
    }
  }
}

TEST(Conv1dLayer, PaddingByMode) {
  const Conv1dConfig same{
      .in = 1, .out = 1, .kernel = 4, .dilation = 3, .padding = ConvPadding::kSame};
  EXPECT_EQ(same.options().left, 4u);
  EXPECT_EQ(same.options().right, 5u);
  const Conv1dConfig causal{
      .in = 1, .out = 1, .kernel = 4, .dilation = 3, .padding = ConvPadding::kCausal};
  EXPECT_EQ(causal.options().left, 9u);
  EXPECT_EQ(causal.options().right, 0u);
  const Conv1dConfig given{.in = 1, .out = 1, .kernel = 4, .left = 2, .right = 7};
  EXPECT_EQ(given.options().left, 2u);
  EXPECT_EQ(given.options().right, 7u);
}

TEST(Conv1dLayer, PaddingHasNames) { expect_names<ConvPadding>({"explicit", "same", "causal"}); }

TEST(Conv1dLayer, ListsItsParameters) {
  Rng rng(1);
  Conv1d conv({.in = 6, .out = 4, .kernel = 3, .groups = 2}, rng);
  const auto found = parameters(conv);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "weight");
  EXPECT_EQ(found[0].tensor.shape(), (Shape{4, 3, 3}));
  EXPECT_EQ(found[1].tensor.shape(), Shape{4});
  Conv1d plain({.in = 6, .out = 4, .kernel = 3, .bias = false}, rng);
  EXPECT_EQ(parameters(plain).size(), 1u);
}

// The two steps of a separable convolution make one whole convolution, whose weight is their
// product.
TEST(SeparableConv1d, IsAConvolutionOfLowRank) {
  const Packing packing = Packing::of({5, 9});
  Rng rng(1);
  const Conv1dConfig config{.in = 3, .out = 4, .kernel = 3, .padding = ConvPadding::kCausal};
  SeparableConv1d separable(config, rng);
  Conv1d whole(config, rng);
  for (size_t o = 0; o < 4; ++o) {
    for (size_t i = 0; i < 9; ++i) {
      whole.weight.data()[o * 9 + i] =
          separable.pointwise.weight.data()[o * 3 + i / 3] * separable.depthwise.weight.data()[i];
    }
  }
  const Tensor x = random_input({14, 3});
  const auto expected = whole(x, packing).rows.to_vector(),
             actual = separable(x, packing).rows.to_vector();
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6);
  EXPECT_EQ(parameters(separable).front().name, "depthwise.weight");
  EXPECT_EQ(parameter_count(separable), 3u * 3 + 4 * 3 + 4);
}

TEST(Conv2dLayer, MakesPatches) {
  Rng rng(1);
  Conv2d patches({.in = 3, .out = 8, .kernel = 4, .stride = 4}, rng);
  Tensor image = random_input({2, 8, 12, 3}).require_grad();
  const Tensor y = patches(image);
  EXPECT_EQ(y.shape(), (Shape{2, 2, 3, 8}));
  backward(y, Tensor::full(y.shape(), 1.0f));
  EXPECT_EQ(patches.weight.grad().shape(), (Shape{8, 3, 4, 4}));
  EXPECT_EQ(image.grad().shape(), image.shape());
  EXPECT_EQ(parameter_count(patches), 8u * 3 * 16 + 8);
}

TEST(ConvLayers, RefuseWhatCannotBe) {
  Rng rng(1);
  EXPECT_THROW(Conv1d({.in = 4, .out = 0}, rng), ConfigError);
  EXPECT_THROW(Conv1d({.in = 4, .out = 6, .groups = 4}, rng), ConfigError);
  EXPECT_THROW(
      Conv1d({.in = 4, .out = 4, .kernel = 3, .stride = 2, .padding = ConvPadding::kSame}, rng),
      ConfigError);
  EXPECT_THROW(SeparableConv1d({.in = 4, .out = 4, .groups = 2}, rng), ConfigError);
  EXPECT_THROW(Conv2d({.in = 4, .out = 4, .kernel = {0, 3}}, rng), ConfigError);
}

}  // namespace
}  // namespace attend
