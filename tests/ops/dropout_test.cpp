#include "attend/ops/dropout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/kernels/dropout.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "tests/errors.h"
#include "tests/ops/op_case.h"

namespace attend {
namespace {

using plain::Plain;
using Inputs = std::vector<Tensor>;
using Plains = std::vector<Plain>;

constexpr float kChance = 0.3f;

// The checks run inside TrainingScope(Rng(3)), whose first stream the op takes.
Plain plain_dropout(const Plain& x) {
  const kernels::Dropout options{kChance, RandomStream(3, 0)};
  std::vector<float> factors(x.values.size());
  kernels::dropout_factors(0, factors.data(), factors.size(), options);
  Plain y = x;
  for (size_t i = 0; i < factors.size(); ++i) y.values[i] *= factors[i];
  return y;
}

// Of three sequences, the second empty.
Packing three(size_t rows) {
  const auto first = static_cast<int32_t>(rows / 3);
  return Packing::of({first, 0, static_cast<int32_t>(rows) - first});
}

Plain plain_sequence_dropout(const Plain& x) {
  const Packing packing = three(x.rows());
  const kernels::Dropout options{kChance, RandomStream(3, 0)};
  std::vector<float> factors(packing.count() * x.width());
  kernels::dropout_factors(0, factors.data(), factors.size(), options);
  Plain y = x;
  for (size_t s = 0; s < packing.count(); ++s) {
    for (size_t row = packing.begin(s); row < packing.end(s); ++row) {
      for (size_t j = 0; j < x.width(); ++j) y(row, j) *= factors[s * x.width() + j];
    }
  }
  return y;
}

const RegisterOps kDropoutCases({
    {.name = "Dropout",
     .shapes = {{{7, 9}}},
     .op = [](const Inputs& in) { return dropout(in[0], kChance); },
     .plain = [](const Plains& in) { return plain_dropout(in[0]); },
     .large = {{999, 301}}},
    {.name = "DropoutOneRow",
     .shapes = {{{1, 5}}},
     .op = [](const Inputs& in) { return dropout(in[0], kChance); },
     .plain = [](const Plains& in) { return plain_dropout(in[0]); }},
    {.name = "DropoutOfNothing",
     .shapes = {{{0, 5}}},
     .op = [](const Inputs& in) { return dropout(in[0], kChance); },
     .plain = [](const Plains& in) { return plain_dropout(in[0]); }},
    {.name = "DropoutAdd",
     .shapes = {{{7, 9}, {7, 9}}},
     .op = [](const Inputs& in) { return dropout_add(in[0], in[1], kChance); },
     .plain = [](const Plains& in) { return zip(plain_dropout(in[0]), in[1], std::plus{}); },
     .large = {{999, 301}, {999, 301}}},
    {.name = "SequenceDropout",
     .shapes = {{{7, 9}}, {{1, 5}}, {{0, 5}}},
     .op = [](const Inputs& in) { return sequence_dropout(in[0], three(in[0].rows()), kChance); },
     .plain = [](const Plains& in) { return plain_sequence_dropout(in[0]); },
     .large = {{999, 301}}},
});

TEST(Dropout, IsOffOutsideTraining) {
  const Tensor x = Tensor::full({100}, 1.0f);
  EXPECT_EQ(dropout(x, 0.5f).to_vector(), x.to_vector());
  EXPECT_EQ(dropout_add(x, x, 0.5f).to_vector(), std::vector<float>(100, 2.0f));
  const Tensor rows = Tensor::full({3, 4}, 1.0f);
  EXPECT_EQ(sequence_dropout(rows, Packing::of({3}), 0.5f).to_vector(), rows.to_vector());
  EXPECT_FALSE(dropout_mask(3, 4, 0.5f).defined());
}

TEST(Dropout, KeepsTheExpectation) {
  const TrainingScope training(Rng(1));
  const Tensor x = Tensor::full({200000}, 1.0f);
  double sum = 0;
  size_t zeros = 0;
  for (const float value : dropout(x, kChance).to_vector()) {
    sum += value;
    zeros += value == 0.0f;
  }
  EXPECT_NEAR(sum / 200000, 1.0, 0.006);  // four standard deviations
  EXPECT_NEAR(static_cast<double>(zeros) / 200000, kChance, 0.0042);
}

TEST(Dropout, SameSeedSameMaskAndEachCallAnother) {
  const Tensor x = Tensor::full({1000}, 1.0f);
  const auto two_calls = [&](uint64_t seed) {
    const TrainingScope training{Rng(seed)};
    return std::pair(dropout(x, 0.5f).to_vector(), dropout(x, 0.5f).to_vector());
  };
  const auto [a, b] = two_calls(1);
  EXPECT_NE(a, b);
  EXPECT_EQ(two_calls(1).second, b);
  EXPECT_NE(two_calls(2).first, a);
}

// Columns are kept or dropped as wholes, each sequence has columns of its own, and a share of them
// is dropped.
TEST(Dropout, OneMaskForAllRowsOfASequence) {
  const TrainingScope training(Rng(1));
  const Packing packing = Packing::of({5, 0, 3});
  const size_t width = 20000;
  const Tensor y = sequence_dropout(Tensor::full({8, width}, 1.0f), packing, kChance);
  const auto row = [&](size_t r) { return y.slice_rows(r, 1).to_vector(); };
  for (const size_t r : {1, 2, 3, 4}) EXPECT_EQ(row(r), row(0));
  for (const size_t r : {6, 7}) EXPECT_EQ(row(r), row(5));
  EXPECT_NE(row(0), row(5));
  const std::vector<float> first = row(0);
  const auto dropped = static_cast<double>(std::ranges::count(first, 0.0f));
  EXPECT_NEAR(dropped / static_cast<double>(width), kChance, 0.013);  // four standard deviations
}

TEST(Dropout, RefusesImpossibleChances) {
  const Tensor x = Tensor::zeros({3});
  EXPECT_EQ(message_of<ConfigError>([&] { dropout(x, 1.0f); }),
            "dropout: the chance is 1, not within [0, 1)");
  EXPECT_THROW(dropout(x, -0.1f), ConfigError);
  EXPECT_THROW(dropout(x, std::numeric_limits<float>::quiet_NaN()), ConfigError);
  EXPECT_EQ(message_of([&] { dropout_add(x, Tensor::zeros({4}), 0.1f); }),
            "dropout_add: [3] cannot be added to [4]");
  EXPECT_EQ(message_of([&] {
              sequence_dropout(Tensor::zeros({3, 2}), Packing::of({4}), 0.1f);
            }),
            "sequence_dropout: [3, 2] does not fit sequences of 4 rows in all");
}

}  // namespace
}  // namespace attend
