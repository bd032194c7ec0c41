#include "attend/ops/softmax.h"

#include <gtest/gtest.h>

#include <limits>

#include "attend/tensor/tape.h"
#include "tests/ops/op_case.h"
#include "tests/plain/rows.h"

namespace attend {
namespace {

using plain::Plain;

const std::vector<std::vector<Shape>> kShapes = {{{5, 7}}, {{1, 1}}, {{0, 4}}, {{2, 3, 9}}, {{33}}};

const RegisterOps kSoftmaxCases({
    {.name = "Softmax",
     .shapes = kShapes,
     .op = [](const std::vector<Tensor>& in) { return softmax(in[0]); },
     .plain = [](const std::vector<Plain>& in) { return plain::softmax(in[0]); },
     .large = {{700, 301}}},
    {.name = "LogSoftmax",
     .shapes = kShapes,
     .op = [](const std::vector<Tensor>& in) { return log_softmax(in[0]); },
     .plain = [](const std::vector<Plain>& in) { return plain::log_softmax(in[0]); },
     .large = {{700, 301}}},
});

TEST(Softmax, RowsSumToOne) {
  const Tensor y = softmax(Tensor::of({1, 2, 3, -50, 0, 80}, {2, 3}));
  const std::vector<float> values = y.to_vector();
  EXPECT_NEAR(values[0] + values[1] + values[2], 1.0f, 1e-6f);
  EXPECT_NEAR(values[3] + values[4] + values[5], 1.0f, 1e-6f);
}

TEST(Softmax, DoesNotChangeWhenARowIsShifted) {
  const Tensor a = softmax(Tensor::of({1, 2, 4}, {1, 3}));
  const Tensor b = softmax(Tensor::of({1001, 1002, 1004}, {1, 3}));
  EXPECT_EQ(a.to_vector(), b.to_vector());
}

TEST(Softmax, RowOfMinusInfinityGivesZerosBothWays) {
  const float minus = -std::numeric_limits<float>::infinity();
  const Tensor x = Tensor::of({minus, minus, minus, 0, 0, minus}, {2, 3}).require_grad();
  const Tensor y = softmax(x);
  EXPECT_EQ(y.to_vector(), (std::vector<float>{0, 0, 0, 0.5f, 0.5f, 0}));
  backward(y, Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3}));
  EXPECT_EQ(x.grad().to_vector(), (std::vector<float>{0, 0, 0, -0.25f, 0.25f, 0}));
}

}  // namespace
}  // namespace attend
