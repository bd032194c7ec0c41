#include "attend/ops/conv.h"

#include <gtest/gtest.h>

#include "attend/base/error.h"
#include "attend/base/rng.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/ops/op_case.h"
#include "tests/plain/conv.h"

namespace attend {
namespace {

using Inputs = std::vector<Tensor>;
using PlainInputs = std::vector<plain::Plain>;

const Packing kLengths =
    Packing::of({5, 0, 1, 9, 2});  // 17 rows, one sequence shorter than any kernel

Tensor bias_of(const Inputs& in) { return in.size() > 2 ? in[2] : Tensor(); }

// A case of conv1d over kLengths, an empty batch, and a single row; with `large` over long
// sequences.
struct Case1d {
  std::string name;
  size_t in, out, kernel;
  Conv1dOptions options;
  bool bias = true;
};

OpCase op_case(const Case1d& c) {
  const auto packing_for = [](size_t rows) {
    if (rows == 17) return kLengths;
    if (rows == 3000) return Packing::of({700, 1, 0, 1299, 300, 40, 660});
    return Packing::even(1, rows);
  };
  const auto shapes = [&](size_t rows) {
    std::vector<Shape> all{{rows, c.in}, {c.out, c.in / c.options.groups, c.kernel}};
    if (c.bias) all.push_back({c.out});
    return all;
  };
  return {.name = "Conv1d" + c.name,
          .shapes = {shapes(17), shapes(0), shapes(1)},
          .op =
              [=](const Inputs& in) {
                return conv1d(in[0], packing_for(in[0].rows()), in[1], bias_of(in), c.options).rows;
              },
          .plain =
              [=](const PlainInputs& in) {
                return plain::conv1d(in, packing_for(in[0].rows()), c.options);
              },
          .large = shapes(3000),
          .tolerance = 2e-5};
}

const RegisterOps kConv1d({
    op_case({"Pointwise", 5, 7, 1, {}}),
    op_case({"Valid", 4, 3, 3, {}}),
    op_case({"Same", 4, 6, 3, {.left = 1, .right = 1}}),
    op_case({"NoBias", 4, 6, 3, {.left = 1, .right = 1}, false}),
    op_case({"Causal", 3, 5, 3, {.left = 2}}),
    op_case({"CausalDilated", 3, 5, 3, {.dilation = 2, .left = 4}}),
    op_case({"EvenKernel", 3, 2, 4, {.left = 2, .right = 1}}),
    op_case({"Stride2", 4, 5, 3, {.stride = 2, .left = 1, .right = 1}}),
    op_case({"Stride3Dilated", 4, 5, 2, {.stride = 3, .dilation = 2, .left = 2, .right = 1}}),
    op_case({"StridePastKernel", 2, 3, 2, {.stride = 4}}),
    op_case({"PointwiseStride2", 4, 3, 1, {.stride = 2}}),
    op_case({"MorePaddingThanKernel", 3, 2, 2, {.left = 3, .right = 4}}),
    op_case({"KernelPastSequence", 2, 3, 7, {.left = 3, .right = 3}}),
    op_case({"Groups", 6, 4, 3, {.groups = 2, .left = 1, .right = 1}}),
    op_case({"GroupsStride2", 6, 9, 3, {.stride = 2, .groups = 3, .left = 1, .right = 1}}),
    op_case({"Depthwise", 19, 19, 3, {.groups = 19, .left = 1, .right = 1}}),
    op_case({"DepthwiseCausalDilated", 5, 5, 3, {.dilation = 2, .groups = 5, .left = 4}}),
    op_case({"DepthwiseStride2", 5, 5, 4, {.stride = 2, .groups = 5, .left = 1, .right = 2}}),
    op_case({"DepthwiseTwoOutputs", 3, 6, 3, {.groups = 3, .left = 1, .right = 1}}),
});

struct Case2d {
  std::string name;
  size_t in, out;
  Extent2 kernel;
  Conv2dOptions options;
};

OpCase op_case_2d(const Case2d& c) {
  const auto shapes = [&](size_t batch, size_t height, size_t width) {
    const Shape weight{c.out, c.in / c.options.groups, c.kernel.height, c.kernel.width};
    return std::vector<Shape>{{batch, height, width, c.in}, weight, {c.out}};
  };
  return {.name = "Conv2d" + c.name,
          .shapes = {shapes(2, 5, 6), shapes(0, 5, 6), shapes(1, 4, 5)},
          .op = [=](const Inputs& in) { return conv2d(in[0], in[1], in[2], c.options); },
          .plain = [=](const PlainInputs& in) { return plain::conv2d(in, c.options); },
          .large = shapes(6, 21, 23),
          .tolerance = 2e-5};
}

const RegisterOps kConv2d({
    op_case_2d({"Pointwise", 5, 7, 1, {}}),
    op_case_2d({"Valid", 3, 4, 3, {}}),
    op_case_2d({"Same", 3, 4, 3, {.padding = 1}}),
    op_case_2d({"Oblong", 3, 2, {2, 3}, {.stride = {1, 2}, .padding = {0, 1}}}),
    op_case_2d({"Stride2", 3, 4, 3, {.stride = 2, .padding = 1}}),
    op_case_2d({"Dilated", 3, 4, {2, 3}, {.padding = {1, 2}, .dilation = {3, 2}}}),
    op_case_2d({"Patches", 3, 8, 2, {.stride = 2}}),
    op_case_2d({"Groups", 4, 6, 3, {.padding = 1, .groups = 2}}),
    op_case_2d({"Depthwise", 9, 9, 3, {.padding = 1, .groups = 9}}),
    op_case_2d({"DepthwiseStride2", 9, 9, 3, {.stride = 2, .padding = 1, .groups = 9}}),
});

Tensor random(const Shape& shape, uint64_t stream) {
  Tensor x = Tensor::empty(shape);
  fill_uniform(x.span(), RandomStream(5, stream), -1.0f, 1.0f);
  return x;
}

TEST(Conv1d, PackedEqualsOneSequenceAtATime) {
  const Tensor x = random({17, 6}, 0), weight = random({4, 6, 3}, 1), bias = random({4}, 2);
  const Conv1dOptions options{.stride = 2, .dilation = 2, .left = 3, .right = 1};
  const auto [y, packing] = conv1d(x, kLengths, weight, bias, options);
  ASSERT_EQ(packing.count(), kLengths.count());
  for (size_t i = 0; i < kLengths.count(); ++i) {
    const size_t length = kLengths.length(i);
    const auto alone = conv1d(x.slice_rows(kLengths.begin(i), length), Packing::even(1, length),
                              weight, bias, options);
    EXPECT_EQ(alone.packing.rows(), packing.length(i));
    EXPECT_EQ(alone.rows.to_vector(),
              y.slice_rows(packing.begin(i), packing.length(i)).to_vector());
  }
}

TEST(Conv1d, CausalDoesNotLookAhead) {
  const Packing packing = Packing::of({40, 60});
  const Conv1dOptions causal{.dilation = 4, .left = 8};
  const Tensor weight = random({16, 8, 3}, 1);
  Tensor x = random({100, 8}, 0);
  const std::vector<float> before = conv1d(x, packing, weight, {}, causal).rows.to_vector();
  constexpr size_t kChanged = 70;  // in the middle of the second sequence
  for (size_t c = 0; c < 8; ++c) x.data()[kChanged * 8 + c] += 1.0f;
  const std::vector<float> after = conv1d(x, packing, weight, {}, causal).rows.to_vector();
  for (size_t row = 0; row < 100; ++row) {
    const bool same = std::equal(before.begin() + row * 16, before.begin() + (row + 1) * 16,
                                 after.begin() + row * 16);
    const bool sees = row >= kChanged && (row - kChanged) % 4 == 0 && row - kChanged <= 8;
    EXPECT_EQ(same, !sees) << "row " << row;
  }
}

TEST(Conv1d, KeepsThePackingWhereNoLengthChanges) {
  const Tensor x = random({17, 2}, 0), weight = random({2, 2, 3}, 1);
  const auto same = conv1d(x, kLengths, weight, {}, {.left = 1, .right = 1});
  EXPECT_EQ(same.packing.offsets().data(), kLengths.offsets().data());
  EXPECT_EQ(conv1d(x, kLengths, weight).packing, Packing::of({3, 0, 0, 7, 0}));
}

TEST(Conv, ErrorsNameBothShapesAndTheRemedy) {
  const Tensor x = Tensor::zeros({17, 6}), image = Tensor::zeros({1, 2, 9, 3});
  EXPECT_EQ(message_of([&] {
              conv1d(x, Packing::of({3, 4}), Tensor::zeros({2, 6, 3}));
            }),
            "conv1d: input [17, 6] has 17 rows but its packing has 7");
  EXPECT_EQ(
      message_of([&] {
        conv1d(x, kLengths, Tensor::zeros({2, 5, 3}));
      }),
      "conv1d: input [17, 6] does not fit weight [2, 5, 3]: with 1 groups that takes 5 channels");
  EXPECT_EQ(message_of([&] {
              conv1d(x, kLengths, Tensor::zeros({2, 6, 3}), {}, {.groups = 4});
            }),
            "conv1d: 4 groups do not divide the channels of input [17, 6] and weight [2, 6, 3]");
  EXPECT_EQ(message_of([&] {
              conv1d(x, kLengths, Tensor::zeros({2, 6, 3}), Tensor::zeros({3}));
            }),
            "conv1d: bias [3] does not fit weight [2, 6, 3], which has 2 outputs");
  EXPECT_EQ(message_of([&] {
              conv1d(x, kLengths, Tensor::zeros({2, 6}));
            }),
            "conv1d: weight [2, 6] is not [out, in / groups, kernel] for input [17, 6]");
  EXPECT_EQ(message_of([&] {
              conv2d(x, Tensor::zeros({2, 6, 3, 3}));
            }),
            "conv2d: input [17, 6] is not [batch, height, width, channels]");
  EXPECT_EQ(message_of([&] {
              conv2d(image, Tensor::zeros({2, 3, 3, 3}));
            }),
            "conv2d: a window of 3 x 3 does not fit into images [1, 2, 9, 3] with padding 0 x 0; "
            "pad more");
  EXPECT_THROW(conv1d(x, kLengths, Tensor::zeros({2, 6, 3}), {}, {.stride = 0}), ConfigError);
}

}  // namespace
}  // namespace attend
