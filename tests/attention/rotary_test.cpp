// Rotary positions: what turns, by how much, and what does not.
#include "attend/attention/rotary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "attend/tensor/tape.h"
#include "tests/attention/values.h"
#include "tests/names.h"

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

// base^(-2 i / columns), in double.
double frequency(double base, size_t pair, size_t columns) {
  return std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(columns));
}

void expect_frequencies(const Rotary& rotary, size_t width, const std::vector<double>& expected) {
  const std::vector<double> frequencies = rotary_frequencies(rotary, width);
  ASSERT_EQ(frequencies.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(frequencies[i] / expected[i], 1.0, 1e-7) << "pair " << i;
  }
}

// The formulas of each method, written out a second time.
TEST(RotaryScaling, FrequenciesAreThoseOfTheFormulas) {
  const size_t columns = 16;
  std::vector<double> expected(8);
  const auto expect = [&](const RotaryScale& scaling, const auto& formula) {
    SCOPED_TRACE(name_of(scaling.method));
    for (size_t i = 0; i < 8; ++i) expected[i] = formula(i, frequency(10000.0, i, columns));
    expect_frequencies({.rotated = columns, .scaling = scaling}, 20, expected);
  };
  expect({}, [](size_t, double f) { return f; });
  expect({.method = RotaryScaling::kLinear, .factor = 4.0f},
         [](size_t, double f) { return f / 4.0; });
  expect({.method = RotaryScaling::kNtk, .factor = 4.0f},
         [](size_t i, double) { return frequency(10000.0 * std::pow(4.0, 16.0 / 14.0), i, 16); });
  // The last pair is divided by the factor, the first one not at all.
  const std::vector<double> ntk =
      rotary_frequencies({.scaling = {.method = RotaryScaling::kNtk, .factor = 4.0f}}, columns);
  EXPECT_NEAR(ntk[0], 1.0, 1e-12);
  EXPECT_NEAR(ntk[7], frequency(10000.0, 7, columns) / 4.0, 1e-9);
  RotaryScale dynamic{.method = RotaryScaling::kDynamicNtk, .factor = 2.0f};
  dynamic.original_context = 100;
  dynamic.length = 100;
  expect(dynamic, [](size_t, double f) { return f; });
  dynamic.length = 300;  // 2 x 300 / 100 - 1 = 5 times
  expect(dynamic,
         [](size_t i, double) { return frequency(10000.0 * std::pow(5.0, 16.0 / 14.0), i, 16); });
  RotaryScale yarn{.method = RotaryScaling::kYarn, .factor = 8.0f, .original_context = 2048};
  const auto pair_of = [](double turns) {
    return 16.0 * std::log(2048.0 / (turns * 2.0 * std::numbers::pi)) / (2.0 * std::log(10000.0));
  };
  const double low = std::floor(pair_of(32.0)), high = std::ceil(pair_of(1.0));
  EXPECT_EQ(low, 2.0);
  EXPECT_EQ(high, 6.0);
  expect(yarn, [&](size_t i, double f) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    return f * (1.0 - ramp) + f / 8.0 * ramp;
  });
}

// Llama 3.1's published values: rope_scaling {"factor": 8, "low_freq_factor": 1,
// "high_freq_factor": 4, "original_max_position_embeddings": 8192}, rope_theta 500000, heads of 128
// columns. The first pairs stay, the last ones are divided by 8, and those with a wavelength
// between 8192 / 4 and 8192 / 1 lie between.
TEST(RotaryScaling, Llama3WithItsPublishedValues) {
  const Rotary rotary{.base = 500000.0f,
                      .scaling = {.method = RotaryScaling::kLlama3,
                                  .factor = 8.0f,
                                  .original_context = 8192,
                                  .low_frequency_factor = 1.0f,
                                  .high_frequency_factor = 4.0f}};
  std::vector<double> expected(64);
  size_t kept = 0, divided = 0;
  for (size_t i = 0; i < 64; ++i) {
    const double f = frequency(500000.0, i, 128), wavelength = 2.0 * std::numbers::pi / f;
    if (wavelength < 8192.0 / 4.0) {
      expected[i] = f;
      ++kept;
    } else if (wavelength > 8192.0) {
      expected[i] = f / 8.0;
      ++divided;
    } else {
      const double smooth = (8192.0 / wavelength - 1.0) / (4.0 - 1.0);
      expected[i] = (1.0 - smooth) * f / 8.0 + smooth * f;
    }
  }
  EXPECT_EQ(kept, 29u);
  EXPECT_EQ(divided, 64u - 29 - 6);
  expect_frequencies(rotary, 128, expected);
  const std::vector<double> frequencies = rotary_frequencies(rotary, 128);
  EXPECT_EQ(frequencies[0], 1.0);
  EXPECT_EQ(rotary_attention_factor(rotary.scaling), 1.0);
}

// Only YaRN makes cosines and sines larger, by 0.1 ln(factor) + 1.
TEST(RotaryScaling, YarnScalesTheLengthOfWhatTurns) {
  Rotary rotary{
      .scaling = {.method = RotaryScaling::kYarn, .factor = 4.0f, .original_context = 64}};
  const double factor = 0.1 * std::log(4.0) + 1.0;
  EXPECT_NEAR(rotary_attention_factor(rotary.scaling), factor, 1e-12);
  const Tensor x = random_tensor({1, 8}, 7);
  EXPECT_NEAR(dot(turned(x, 9, rotary), turned(x, 9, rotary)), factor * factor * dot(x, x), 1e-5);
  rotary.scaling.attention_factor = 1.5f;
  EXPECT_NEAR(dot(turned(x, 9, rotary), turned(x, 9, rotary)), 2.25 * dot(x, x), 1e-5);
}

// Column 0 of each pair, turned, is the cosine: of position times frequency.
TEST(RotaryScaling, RotateTurnsByTheScaledFrequencies) {
  for (const RotaryScaling method :
       {RotaryScaling::kLinear, RotaryScaling::kNtk, RotaryScaling::kDynamicNtk,
        RotaryScaling::kYarn, RotaryScaling::kLlama3}) {
    SCOPED_TRACE(name_of(method));
    const Rotary rotary{.scale = 0.5f,
                        .scaling = {.method = method,
                                    .factor = 4.0f,
                                    .original_context = 64,
                                    .length = 128,
                                    .attention_factor = 1.25f}};
    const std::vector<double> frequencies = rotary_frequencies(rotary, 8);
    const Tensor y = turned(Tensor::of({1, 1, 1, 1, 0, 0, 0, 0}, {1, 8}), 30, rotary);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(y.data()[i], 1.25 * std::cos(15.0 * frequencies[i]), 1e-6);
      EXPECT_NEAR(y.data()[4 + i], 1.25 * std::sin(15.0 * frequencies[i]), 1e-6);
    }
  }
}

TEST(Rotary, FrequenciesMayBeGiven) {
  const Tensor x = random_tensor({3, 12}, 5);
  const std::vector<int32_t> positions{0, 2, 50};
  Rotary given;
  for (const double f : rotary_frequencies({.base = 77.0f, .rotated = 4}, 6)) {
    given.inverse_frequencies.push_back(static_cast<float>(f));
  }
  // As many columns turn as there are frequencies for.
  expect_values(rotate(x, positions, 2, given),
                rotate(x, positions, 2, {.base = 77.0f, .rotated = 4}).to_vector(), 1e-5f);
}

TEST(Rotary, TablesTurnAsTheirFrequencies) {
  for (const RotaryLayout layout : kLayouts) {
    Rotary rotary{.layout = layout, .rotated = 4};
    rotary.scaling = {.method = RotaryScaling::kYarn, .factor = 4.0f, .original_context = 64};
    const RotaryTables tables = rotary_tables(60, 6, rotary);
    EXPECT_EQ(tables.cosine.shape(), (Shape{60, 2}));
    const std::vector<int32_t> positions{0, 59, 7};
    Tensor x = random_tensor({3, 12}, 5);
    x.require_grad();
    const Tensor seed = random_tensor({3, 12}, 6);
    const auto gradient = [&](const Tensor& y) {
      x.clear_grad();
      backward(y, seed);
      return x.grad().to_vector();
    };
    const Tensor direct = rotate(x, positions, 2, rotary);
    const Tensor by_tables = rotate(x, positions, 2, tables, layout);
    EXPECT_EQ(by_tables.to_vector(), direct.to_vector());
    EXPECT_EQ(gradient(by_tables), gradient(direct));
  }
}

TEST(RotaryScaling, ErrorsNameTheValuesAndTheRemedy) {
  const auto refused = [](const RotaryScale& scaling, const char* message) {
    expect_error<ConfigError>([&] { rotary_frequencies({.scaling = scaling}, 8); }, message);
  };
  refused({.method = RotaryScaling::kLinear, .factor = 0.5f}, "a scaling factor of 0.5");
  for (const RotaryScaling method :
       {RotaryScaling::kDynamicNtk, RotaryScaling::kYarn, RotaryScaling::kLlama3}) {
    refused({.method = method, .factor = 2.0f}, "set original_context");
  }
  refused({.method = RotaryScaling::kDynamicNtk, .factor = 2.0f, .original_context = 9},
          "scaling dynamic_ntk depends on the length to reach; set length");
  refused({.beta_fast = 1.0f, .beta_slow = 2.0f}, "beta_fast 1 should be above beta_slow 2");
  refused({.low_frequency_factor = 4.0f},
          "high_frequency_factor 4 should be above low_frequency_factor 4");
  expect_error<ConfigError>(
      [] { rotary_frequencies({.scaling = {.method = RotaryScaling::kNtk, .factor = 2.0f}}, 2); },
      "scaling ntk needs 4 rotated columns or more, not 2");
  expect_error<ConfigError>([] { rotary_frequencies({.base = 1.0f}, 8); }, "a base of 1");
  expect_error<ConfigError>(
      [] { rotary_frequencies({.rotated = 8, .inverse_frequencies = {1.0f}}, 8); },
      "1 inverse frequencies for 4 pairs of columns");
  Rotary both{.inverse_frequencies = {1.0f}};
  both.scaling.method = RotaryScaling::kLinear;
  expect_error<ConfigError>([&] { rotary_frequencies(both, 8); },
                            "inverse frequencies are used as they are, but scaling is linear");
  const Tensor x = Tensor::zeros({2, 6});
  const std::vector<int32_t> positions{0, 4};
  const RotaryTables tables = rotary_tables(4, 6);
  expect_error<ShapeError>([&] { rotate(x, positions, 1, tables); },
                           "position 4 of row 1 is not within tables of 4 positions");
  expect_error<ShapeError>([&] { rotate(x, positions, 2, tables); },
                           "tables of cosines [4, 3] and sines [4, 3] for heads of 3 columns");
  expect_error<ShapeError>([&] { rotate(x, positions, 2, RotaryTables{}); }, "undefined");
  expect_names<RotaryScaling>({"none", "linear", "ntk", "dynamic_ntk", "yarn", "llama3"});
}

TEST(Rotary, ErrorsNameTheValues) {
  const Tensor x = Tensor::zeros({2, 6});
  const std::vector<int32_t> two{0, 1}, three{0, 1, 2};
  expect_error<ShapeError>([&] { rotate(x, two, 4); }, "[2, 6] cannot be cut into 4 heads");
  expect_error<ShapeError>([&] { rotate(x, three, 1); }, "3 positions for 2 rows");
  expect_error<ConfigError>([&] { rotate(x, two, 2); }, "3 of 3 columns");
  expect_error<ConfigError>([&] { rotate(x, two, 1, {.rotated = 8}); }, "8 of 6 columns");
  expect_names<RotaryLayout>({"half", "interleaved"});
}

}  // namespace
}  // namespace attend
