// Every registered op case goes through the same checks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attend/base/parallel.h"
#include "attend/base/rng.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "tests/ops/op_case.h"

namespace attend {

std::vector<OpCase>& op_cases() {
  static std::vector<OpCase> cases;
  return cases;
}

std::ostream& operator<<(std::ostream& out, const OpCase& c) { return out << c.name; }

namespace {

using plain::Plain;

class Op : public testing::TestWithParam<OpCase> {};

std::vector<Tensor> random_inputs(const OpCase& c, const std::vector<Shape>& shapes) {
  std::vector<Tensor> inputs;
  Rng rng(7);
  for (const Shape& shape : shapes) {
    Tensor x = Tensor::empty(shape);
    fill_uniform(x.span(), rng.stream(), static_cast<float>(c.low), static_cast<float>(c.high));
    inputs.push_back(x.require_grad());
  }
  return inputs;
}

// The same values as blocks of columns of wider tensors, which become the leaves.
std::vector<Tensor> as_column_blocks(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> views;
  for (const Tensor& x : inputs) {
    if (x.rank() < 2) {
      views.push_back(x);
      continue;
    }
    Shape wide = x.shape();
    wide.set(-1, x.width() + 3);
    Tensor base = Tensor::full(wide, 99.0f).require_grad();
    views.push_back(base.slice_columns(2, x.width()));
    for (size_t row = 0; row < x.rows(); ++row) {
      std::copy_n(x.data() + row * x.width(), x.width(),
                  views.back().data() + row * (x.width() + 3));
    }
  }
  return views;
}

Tensor random_like(const Tensor& y) {
  Tensor dy = Tensor::like(y);
  fill_uniform(dy.span(), RandomStream(11, 0), -1.0f, 1.0f);
  return dy;
}

// sum(plain(x) * dy), whose derivative the gradient of x must be.
double weighted_sum(const OpCase& c, const std::vector<Plain>& inputs, const Tensor& dy) {
  const Plain y = c.plain(inputs);
  const std::vector<float> weights = dy.to_vector();
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) sum += y.values[i] * weights[i];
  return sum;
}

std::vector<Plain> plain_inputs(const std::vector<Tensor>& inputs) {
  std::vector<Plain> twins;
  twins.reserve(inputs.size());
  for (const Tensor& x : inputs) twins.emplace_back(x);
  return twins;
}

void expect_near(double expected, double actual, double tolerance, const std::string& where) {
  EXPECT_NEAR(expected, actual, tolerance * std::max(1.0, std::abs(expected))) << where;
}

void check_forward(const OpCase& c, const std::vector<Tensor>& inputs) {
  const Tensor y = c.op(inputs);
  const Plain expected = c.plain(plain_inputs(inputs));
  ASSERT_EQ(y.shape(), expected.shape);
  const std::vector<float> values = y.to_vector();
  for (size_t i = 0; i < values.size(); ++i) {
    expect_near(expected.values[i], values[i], c.tolerance, "output " + std::to_string(i));
  }
}

void check_gradient(const OpCase& c, const std::vector<Tensor>& inputs) {
  const Tensor y = c.op(inputs);
  const Tensor dy = random_like(y);
  backward(y, dy);
  std::vector<Plain> twins = plain_inputs(inputs);
  constexpr double kStep = 1e-5;
  for (size_t n = 0; n < inputs.size(); ++n) {
    if (inputs[n].size() == 0) continue;
    ASSERT_TRUE(inputs[n].grad().defined()) << "input " << n << " got no gradient";
    const std::vector<float> gradient = inputs[n].grad().to_vector();
    const size_t skip = std::max<size_t>(1, inputs[n].size() / 200);
    for (size_t i = 0; i < gradient.size(); i += skip) {
      const double before = twins[n].values[i];
      twins[n].values[i] = before + kStep;
      const double above = weighted_sum(c, twins, dy);
      twins[n].values[i] = before - kStep;
      const double below = weighted_sum(c, twins, dy);
      twins[n].values[i] = before;
      expect_near((above - below) / (2 * kStep), gradient[i], 10 * c.tolerance,
                  "gradient of input " + std::to_string(n) + " at " + std::to_string(i));
    }
  }
}

TEST_P(Op, ForwardMatchesPlainTwin) {
  for (const auto& shapes : GetParam().shapes) {
    const TrainingScope training(Rng(3));
    check_forward(GetParam(), random_inputs(GetParam(), shapes));
  }
}

TEST_P(Op, GradientMatchesFiniteDifferences) {
  for (const auto& shapes : GetParam().shapes) {
    const TrainingScope training(Rng(3));
    check_gradient(GetParam(), random_inputs(GetParam(), shapes));
  }
}

TEST_P(Op, TakesBlocksOfColumns) {
  if (!GetParam().views) GTEST_SKIP() << "takes contiguous inputs only";
  const auto inputs = random_inputs(GetParam(), GetParam().shapes.front());
  {
    const TrainingScope training(Rng(3));
    check_forward(GetParam(), as_column_blocks(inputs));
  }
  const TrainingScope training(Rng(3));
  check_gradient(GetParam(), as_column_blocks(inputs));
}

// A second contribution to a gradient is added to the first.
TEST_P(Op, GradientsAddUp) {
  const auto inputs = random_inputs(GetParam(), GetParam().shapes.front());
  std::vector<std::vector<float>> once;
  for (int time = 1; time <= 2; ++time) {
    const TrainingScope training(Rng(3));
    const Tensor y = GetParam().op(inputs);
    backward(y, random_like(y));
    for (size_t n = 0; n < inputs.size(); ++n) {
      const std::vector<float> gradient = inputs[n].grad().to_vector();
      if (time == 1) {
        once.push_back(gradient);
        continue;
      }
      for (size_t i = 0; i < gradient.size(); ++i) {
        expect_near(2.0 * once[n][i], gradient[i], 1e-5, "input " + std::to_string(n));
      }
    }
  }
}

TEST_P(Op, SameBitsForAnyNumberOfThreads) {
  const auto& shapes = GetParam().large.empty() ? GetParam().shapes.front() : GetParam().large;
  std::vector<std::vector<float>> first;
  for (const int threads : {1, 2, 4}) {
    const ThreadCountScope scope(threads);
    const TrainingScope training(Rng(3));
    const auto inputs = random_inputs(GetParam(), shapes);
    const Tensor y = GetParam().op(inputs);
    backward(y, random_like(y));
    std::vector<std::vector<float>> results{y.to_vector()};
    for (const Tensor& x : inputs) results.push_back(x.grad().to_vector());
    if (threads == 1) first = results;
    for (size_t n = 0; n < results.size(); ++n) {
      const size_t bytes = first[n].size() * sizeof(float);
      ASSERT_TRUE(bytes == 0 || std::memcmp(results[n].data(), first[n].data(), bytes) == 0)
          << (n == 0 ? "output" : "gradient") << " differs on " << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Op, testing::ValuesIn(op_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace attend
