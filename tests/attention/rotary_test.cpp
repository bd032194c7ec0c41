// Rotary positions: what turns, by how much, and what does not.
#include "attend/attention/rotary.h"

#include <gtest/gtest.h>

#include <numeric>

#include "attend/tensor/tape.h"
#include "tests/attention/values.h"

namespace attend {
namespace {

constexpr RotaryLayout kLayouts[] = {RotaryLayout::kHalf, RotaryLayout::kInterleaved};

float dot(const Tensor& a, const Tensor& b) {
  return std::inner_product(a.data(), a.data() + a.size(), b.data(), 0.0f);
}

Tensor turned(const Tensor& x, int32_t position, const Rotary& rotary) {
  return rotate(x, std::vector<int32_t>{position}, 1, rotary);
}

TEST(Rotary, FirstPairTurnsByThePosition) {
  const Tensor x = Tensor::of({1, 0, 0, 0}, {1, 4});
  const float c = std::cos(2.0f), s = std::sin(2.0f);
  expect_values(turned(x, 2, {.layout = RotaryLayout::kHalf}), {c, 0, s, 0}, 1e-6f);
  expect_values(turned(x, 2, {.layout = RotaryLayout::kInterleaved}), {c, s, 0, 0}, 1e-6f);
  // The second pair turns by position / base^(2 / 4).
  const Tensor y = Tensor::of({0, 1, 0, 0}, {1, 4});
  expect_values(turned(y, 2, {.base = 16.0f}), {0, std::cos(0.5f), 0, std::sin(0.5f)}, 1e-6f);
}

TEST(Rotary, DotProductsDependOnDifferencesOnly) {
  const Tensor q = random_tensor({1, 8}, 1), k = random_tensor({1, 8}, 2);
  for (const RotaryLayout layout : kLayouts) {
    for (const size_t rotated : {0, 4}) {
      const Rotary rotary{.layout = layout, .rotated = rotated};
      for (const int32_t apart : {-7, 0, 3}) {
        const float here = dot(turned(q, 10, rotary), turned(k, 10 + apart, rotary));
        for (const int32_t move : {1, 20, 300}) {
          const float there =
              dot(turned(q, 10 + move, rotary), turned(k, 10 + move + apart, rotary));
          EXPECT_NEAR(here, there, 1e-5f) << apart << " " << move;
        }
      }
      const float near = dot(turned(q, 0, rotary), turned(k, 1, rotary));
      const float far = dot(turned(q, 0, rotary), turned(k, 5, rotary));
      EXPECT_GT(std::abs(near - far), 1e-3f);
    }
  }
}

// Column 2 i of one is column i of the other, 2 i + 1 is i + pairs.
TEST(Rotary, LayoutsAreEqualUpToTheOrderOfColumns) {
  const size_t rows = 3, heads = 2, width = 10, pairs = 4;  // two columns stay
  const Tensor half = random_tensor({rows, heads * width}, 3);
  const auto interleaved = [&](const Tensor& x) {
    Tensor y = Tensor::like(x);
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t c = i % width, first = i - c;
      const size_t to = c >= 2 * pairs ? c : c < pairs ? 2 * c : 2 * (c - pairs) + 1;
      y.data()[first + to] = x.data()[i];
    }
    return y;
  };
  const std::vector<int32_t> positions{0, 5, 77};
  Rotary rotary{.rotated = 2 * pairs};
  const Tensor expected = interleaved(rotate(half, positions, heads, rotary));
  rotary.layout = RotaryLayout::kInterleaved;
  EXPECT_EQ(rotate(interleaved(half), positions, heads, rotary).to_vector(), expected.to_vector());
}

TEST(Rotary, WhatIsNotRotatedStays) {
  const Tensor x = random_tensor({2, 12}, 4);  // two heads of six
  for (const RotaryLayout layout : kLayouts) {
    const Tensor y = rotate(x, std::vector<int32_t>{3, 9}, 2, {.layout = layout, .rotated = 2});
    for (size_t i = 0; i < x.size(); ++i) {
      const bool turns = i % 6 < 2;
      EXPECT_EQ(x.data()[i] == y.data()[i], !turns) << i;
    }
  }
}

TEST(Rotary, GradientIsTheTurnBack) {
  for (const RotaryLayout layout : kLayouts) {
    Tensor x = random_tensor({3, 12}, 5);
    x.require_grad();
    const std::vector<int32_t> positions{0, 2, 50}, back{0, -2, -50};
    const Rotary rotary{.layout = layout, .rotated = 4};
    const Tensor seed = random_tensor({3, 12}, 6);
    backward(rotate(x, positions, 2, rotary), seed);
    expect_values(x.grad(), rotate(seed, back, 2, rotary).to_vector(), 1e-6f);
    // A second use adds to the first.
    backward(rotate(x, positions, 2, rotary), seed);
    std::vector<float> twice = rotate(seed, back, 2, rotary).to_vector();
    for (float& value : twice) value *= 2.0f;
    expect_values(x.grad(), twice, 1e-5f);
  }
}

TEST(Rotary, ScaleStretchesPositions) {
  const Tensor x = random_tensor({1, 8}, 7);
  expect_values(turned(x, 40, {.scale = 0.25f}), turned(x, 10, {}).to_vector(), 1e-6f);
}

TEST(Rotary, ColumnsOfALargerTensorTurnAlike) {
  const Tensor x = random_tensor({2, 12}, 8);
  const std::vector<int32_t> positions{1, 4};
  const Tensor block = x.slice_columns(4, 4);
  EXPECT_EQ(rotate(block, positions, 1).to_vector(),
            rotate(Tensor::of(block.to_vector(), {2, 4}), positions, 1).to_vector());
}

TEST(Rotary, ErrorsNameTheValues) {
  const Tensor x = Tensor::zeros({2, 6});
  const std::vector<int32_t> two{0, 1}, three{0, 1, 2};
  expect_error<ShapeError>([&] { rotate(x, two, 4); }, "[2, 6] cannot be cut into 4 heads");
  expect_error<ShapeError>([&] { rotate(x, three, 1); }, "3 positions for 2 rows");
  expect_error<ConfigError>([&] { rotate(x, two, 2); }, "3 of 3 columns");
  expect_error<ConfigError>([&] { rotate(x, two, 1, {.rotated = 8}); }, "8 of 6 columns");
  expect_error<ConfigError>([] { rotary_layout_from_name("pairs"); },
                            "unknown rotary layout 'pairs'; there are: half, interleaved");
  EXPECT_EQ(name_of(RotaryLayout::kInterleaved), "interleaved");
}

}  // namespace
}  // namespace attend
