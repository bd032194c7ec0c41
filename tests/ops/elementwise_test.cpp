#include "attend/ops/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/ops/op_case.h"

namespace attend {
namespace {

using plain::Plain;
using Inputs = std::vector<Tensor>;
using Plains = std::vector<Plain>;

const std::vector<std::vector<Shape>> kPairs = {
    {{5, 7}, {5, 7}}, {{1, 3}, {1, 3}}, {{0, 4}, {0, 4}}, {{2, 3, 9}, {2, 3, 9}}, {{6}, {6}}};
const std::vector<std::vector<Shape>> kRowVectors = {
    {{5, 7}, {7}}, {{1, 3}, {3}}, {{0, 4}, {4}}, {{2, 3, 9}, {9}}};
const std::vector<std::vector<Shape>> kSingles = {{{5, 7}}, {{1, 3}}, {{0, 4}}, {{11}}, {{}}};
const Shape kLargeShape{1000, 301};

template <typename F>
Plain by_row(const Plain& x, const Plain& vector, F&& f) {
  Plain y(x.shape);
  for (size_t i = 0; i < x.rows(); ++i) {
    for (size_t j = 0; j < x.width(); ++j) y(i, j) = f(x(i, j), vector.values[j]);
  }
  return y;
}

// Takes every third element from the first.
Tensor every_third(const Shape& shape) {
  Tensor mask = Tensor::empty(shape, DType::kInt32);
  for (size_t i = 0; i < mask.size(); ++i) mask.indices()[i] = i % 3 == 0;
  return mask;
}

const RegisterOps kElementwiseCases({
    {.name = "Add",
     .shapes = kPairs,
     .op = [](const Inputs& in) { return add(in[0], in[1]); },
     .plain = [](const Plains& in) { return zip(in[0], in[1], std::plus{}); },
     .large = {kLargeShape, kLargeShape}},
    {.name = "AddToItself",
     .shapes = kSingles,
     .op = [](const Inputs& in) { return add(in[0], in[0]); },
     .plain = [](const Plains& in) { return map(in[0], [](double x) { return 2 * x; }); }},
    {.name = "AddRowVector",
     .shapes = kRowVectors,
     .op = [](const Inputs& in) { return add(in[0], in[1]); },
     .plain = [](const Plains& in) { return by_row(in[0], in[1], std::plus{}); },
     .large = {kLargeShape, {301}}},
    {.name = "Subtract",
     .shapes = kPairs,
     .op = [](const Inputs& in) { return subtract(in[0], in[1]); },
     .plain = [](const Plains& in) { return zip(in[0], in[1], std::minus{}); },
     .large = {kLargeShape, kLargeShape}},
    {.name = "Multiply",
     .shapes = kPairs,
     .op = [](const Inputs& in) { return multiply(in[0], in[1]); },
     .plain = [](const Plains& in) { return zip(in[0], in[1], std::multiplies{}); },
     .large = {kLargeShape, kLargeShape}},
    {.name = "MultiplyRowVector",
     .shapes = kRowVectors,
     .op = [](const Inputs& in) { return multiply(in[0], in[1]); },
     .plain = [](const Plains& in) { return by_row(in[0], in[1], std::multiplies{}); },
     .large = {kLargeShape, {301}}},
    {.name = "Square",
     .shapes = kSingles,
     .op = [](const Inputs& in) { return multiply(in[0], in[0]); },
     .plain = [](const Plains& in) { return map(in[0], [](double x) { return x * x; }); }},
    {.name = "Divide",
     .shapes = kPairs,
     .op = [](const Inputs& in) { return divide(in[0], in[1]); },
     .plain = [](const Plains& in) { return zip(in[0], in[1], std::divides{}); },
     .large = {kLargeShape, kLargeShape},
     .low = 0.5},
    {.name = "Scale",
     .shapes = kSingles,
     .op = [](const Inputs& in) { return scale(in[0], -2.5f); },
     .plain = [](const Plains& in) { return map(in[0], [](double x) { return -2.5 * x; }); },
     .large = {kLargeShape}},
    {.name = "AddScalar",
     .shapes = kSingles,
     .op = [](const Inputs& in) { return add_scalar(in[0], 1.5f); },
     .plain = [](const Plains& in) { return map(in[0], [](double x) { return x + 1.5; }); },
     .large = {kLargeShape}},
    {.name = "Where",
     .shapes = kPairs,
     .op = [](const Inputs& in) { return where(every_third(in[0].shape()), in[0], in[1]); },
     .plain =
         [](const Plains& in) {
           Plain y = in[1];
           for (size_t i = 0; i < y.values.size(); i += 3) y.values[i] = in[0].values[i];
           return y;
         },
     .large = {kLargeShape, kLargeShape}},
});

TEST(Elementwise, WrongShapesAreNamed) {
  const Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({3, 2}), v = Tensor::zeros({2});
  EXPECT_EQ(
      message_of([&] { add(a, b); }),
      "add: [2, 3] and [3, 2] do not fit; the second must have the shape of the first or be [3]");
  EXPECT_EQ(
      message_of([&] { multiply(a, v); }),
      "multiply: [2, 3] and [2] do not fit; the second must have the shape of the first or be [3]");
  EXPECT_EQ(message_of([&] { subtract(a, b); }), "subtract: [2, 3] and [3, 2] differ");
  EXPECT_EQ(message_of([&] { divide(a, b); }), "divide: [2, 3] and [3, 2] differ");
  EXPECT_EQ(message_of([&] {
              where(Tensor::ids({1, 0}), a, a);
            }),
            "where: the mask must be int32 of shape [2, 3], not int32 [2]");
  EXPECT_EQ(message_of([&] { where(a, a, a); }),
            "where: the mask must be int32 of shape [2, 3], not float [2, 3]");
}

TEST(Elementwise, WhereDoesNotLetNanLeak) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor a = Tensor::of({1, nan}, {2}).require_grad();
  const Tensor b = Tensor::of({nan, 2}, {2}).require_grad();
  const Tensor y = where(Tensor::ids({1, 0}), a, b);
  EXPECT_EQ(y.to_vector(), (std::vector<float>{1, 2}));
  backward(y, Tensor::of({3, 4}, {2}));
  EXPECT_EQ(a.grad().to_vector(), (std::vector<float>{3, 0}));
  EXPECT_EQ(b.grad().to_vector(), (std::vector<float>{0, 4}));
}

}  // namespace
}  // namespace attend
