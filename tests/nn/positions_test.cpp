#include "attend/nn/positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/base/error.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/names.h"

namespace attend {
namespace {

const Packing kLengths = Packing::of({3, 0, 1, 5});
constexpr size_t kPositions[] = {0, 1, 2, 0, 0, 1, 2, 3, 4};

Tensor random_rows(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  fill_uniform(x.span(), RandomStream(9, 0), -1.0f, 1.0f);
  return x;
}

double sinusoid(size_t position, size_t column, size_t width) {
  const size_t even = column - column % 2;
  const double angle = static_cast<double>(position) /
                       std::pow(10000.0, static_cast<double>(even) / static_cast<double>(width));
  return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

TEST(SinusoidalPositions, StartAgainAtEachSequence) {
  const SinusoidalPositions positions({.width = 6, .max_length = 8});
  const Tensor x = random_rows({9, 6}), y = positions(x, kLengths);
  for (size_t row = 0; row < 9; ++row) {
    for (size_t c = 0; c < 6; ++c) {
      EXPECT_NEAR(y.data()[row * 6 + c], x.data()[row * 6 + c] + sinusoid(kPositions[row], c, 6),
                  1e-6);
    }
  }
}

TEST(Positions, EachSequenceHasAFirstOneOfItsOwn) {
  Rng rng(3);
  const std::vector<int32_t> first = {7, 0, 2, 1};
  const size_t expected[] = {7, 8, 9, 2, 1, 2, 3, 4, 5};
  const SinusoidalPositions waves({.width = 6});
  const LearnedPositions learned({.width = 6, .max_length = 10}, rng);
  const Tensor x = Tensor::zeros({9, 6}), w = waves(x, kLengths, first),
               l = learned(x, kLengths, first);
  for (size_t row = 0; row < 9; ++row) {
    for (size_t c = 0; c < 6; ++c) {
      EXPECT_NEAR(w.data()[row * 6 + c], sinusoid(expected[row], c, 6), 1e-6);
      EXPECT_EQ(l.data()[row * 6 + c], learned.weight.data()[expected[row] * 6 + c]);
    }
  }
  const std::vector<int32_t> past = {8, 0, 0, 0}, negative = {-1, 0, 0, 0}, few = {0};
  EXPECT_THROW(learned(x, kLengths, past), ShapeError);
  EXPECT_THROW(waves(x, kLengths, negative), ShapeError);
  EXPECT_THROW(waves(x, kLengths, few), ShapeError);
}

TEST(SinusoidalPositions, GrowWithWhatIsReached) {
  const SinusoidalPositions positions({.width = 5, .max_length = 2});
  for (const size_t offset : {3, 1000, 100}) {
    const std::vector<int32_t> first(kLengths.count(), static_cast<int32_t>(offset));
    const Tensor y = positions(Tensor::zeros({9, 5}), kLengths, first);
    for (size_t row = 0; row < 9; ++row) {
      for (size_t c = 0; c < 5; ++c) {
        EXPECT_NEAR(y.data()[row * 5 + c], sinusoid(offset + kPositions[row], c, 5), 1e-6);
      }
    }
  }
}

// In spite of the longest sequence that the config allows.
TEST(SinusoidalPositions, TakeMemoryForWhatIsReached) {
  const size_t before = pool_statistics().bytes_in_use;
  const SinusoidalPositions positions({.width = 8, .max_length = 1'000'000'000'000});
  EXPECT_EQ(pool_statistics().bytes_in_use, before);
  positions(Tensor::zeros({9, 8}), kLengths);
  EXPECT_LE(pool_statistics().bytes_in_use, before + 8192);
}

TEST(LearnedPositions, AddTheirRowsAndLearn) {
  Rng rng(1);
  LearnedPositions positions({.width = 4, .max_length = 8}, rng);
  Tensor x = random_rows({9, 4}).require_grad();
  const Tensor y = positions(x, kLengths);
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(y.data()[i], x.data()[i] + positions.weight.data()[kPositions[i / 4] * 4 + i % 4]);
  }
  backward(y, Tensor::full(y.shape(), 1.0f));
  EXPECT_EQ(x.grad().to_vector(), std::vector<float>(36, 1.0f));
  // As often as a position occurs.
  const std::vector<float> grad = positions.weight.grad().to_vector();
  for (const auto& [position, times] : {std::pair{0, 3}, {1, 2}, {2, 2}, {4, 1}, {5, 0}}) {
    EXPECT_EQ(grad[static_cast<size_t>(position) * 4], static_cast<float>(times)) << position;
  }
}

TEST(LearnedPositions, StandBesideTheRows) {
  Rng rng(1);
  LearnedPositions positions({.width = 2, .max_length = 5, .mode = PositionMode::kConcat}, rng);
  Tensor x = random_rows({9, 3}).require_grad();
  const Tensor y = positions(x, kLengths);
  ASSERT_EQ(y.shape(), (Shape{9, 5}));
  for (size_t row = 0; row < 9; ++row) {
    EXPECT_EQ(y.data()[row * 5 + 2], x.data()[row * 3 + 2]);
    EXPECT_EQ(y.data()[row * 5 + 3], positions.weight.data()[kPositions[row] * 2]);
  }
  backward(y, Tensor::full(y.shape(), 1.0f));
  EXPECT_EQ(x.grad().to_vector(), std::vector<float>(27, 1.0f));
  EXPECT_EQ(positions.weight.grad().to_vector()[0], 3.0f);
}

// Row by row, as a decoder does, gives what all at once does.
TEST(Positions, OffsetContinuesASequence) {
  Rng rng(1);
  const LearnedPositions learned({.width = 4, .max_length = 6}, rng);
  const SinusoidalPositions waves({.width = 4, .max_length = 6});
  const Tensor x = random_rows({6, 4});
  const auto check = [&](const auto& positions) {
    const Tensor all = positions(x, Packing::of({6}));
    for (size_t t = 0; t < 6; ++t) {
      const std::vector<int32_t> first = {static_cast<int32_t>(t)};
      const Tensor step = positions(x.slice_rows(t, 1), Packing::of({1}), first);
      EXPECT_EQ(step.to_vector(), all.slice_rows(t, 1).to_vector());
    }
  };
  check(learned);
  check(waves);
}

TEST(Positions, ErrorsNameBothSizesAndTheRemedy) {
  Rng rng(1);
  const LearnedPositions positions({.width = 4, .max_length = 5}, rng);
  const std::vector<int32_t> ones(4, 1);
  EXPECT_EQ(message_of([&] {
              positions(random_rows({9, 4}), kLengths, ones);
            }),
            "positions: a sequence reaches position 6 but the table [5, 4] ends at 5; cut it, or "
            "train with "
            "a larger max_length");
  EXPECT_EQ(
      message_of([&] {
        positions(random_rows({9, 3}), kLengths);
      }),
      "positions: 4 wide cannot be added to input [9, 3]; concatenate them, or make them 3 wide");
  EXPECT_EQ(message_of([&] {
              positions(random_rows({8, 4}), kLengths);
            }),
            "positions: input [8, 4] does not have the 9 rows of its packing");
}

TEST(Positions, OnlyLearnedOnesAreParameters) {
  Rng rng(1);
  LearnedPositions learned({.width = 4, .max_length = 5}, rng);
  SinusoidalPositions waves({.width = 4, .max_length = 5});
  EXPECT_EQ(parameter_count(learned), 20u);
  EXPECT_EQ(parameter_count(waves), 0u);
  expect_names<PositionMode>({"add", "concat"});
}

}  // namespace
}  // namespace attend
