#include "attend/ops/reduce.h"

#include <gtest/gtest.h>

#include "tests/errors.h"
#include "tests/ops/op_case.h"

namespace attend {
namespace {

using plain::Plain;
using Inputs = std::vector<Tensor>;
using Plains = std::vector<Plain>;

Plain plain_sum(const Plain& x, int axis, double factor) {
  std::vector<size_t> left;
  const size_t at = x.shape.axis(axis);
  for (size_t i = 0; i < x.shape.rank(); ++i) {
    if (i != at) left.push_back(x.shape[static_cast<int>(i)]);
  }
  Plain y{Shape(left)};
  const Shape::Around a = x.shape.around(axis);
  for (size_t i = 0; i < x.values.size(); ++i) {
    y.values[i / (a.at * a.after) * a.after + i % a.after] += factor * x.values[i];
  }
  return y;
}

Plain plain_total(const Plain& x, double factor) {
  Plain y{Shape{}};
  for (const double value : x.values) y.values[0] += factor * value;
  return y;
}

OpCase sum_case(const char* name, int axis) {
  return {.name = name,
          .shapes = {{{4, 6}}, {{1, 6}}, {{0, 6}}, {{2, 3, 5}}, {{2, 1, 3, 4}}},
          .op = [axis](const Inputs& in) { return sum(in[0], axis); },
          .plain = [axis](const Plains& in) { return plain_sum(in[0], axis, 1.0); },
          .large = {{999, 301}}};
}

const RegisterOps kReduceCases({
    {.name = "Sum",
     .shapes = {{{4, 6}}, {{1, 1}}, {{0, 6}}, {{2, 3, 5}}},
     .op = [](const Inputs& in) { return sum(in[0]); },
     .plain = [](const Plains& in) { return plain_total(in[0], 1.0); },
     .large = {{999, 301}}},
    {.name = "Mean",
     .shapes = {{{4, 6}}, {{1, 1}}, {{2, 3, 5}}},
     .op = [](const Inputs& in) { return mean(in[0]); },
     .plain =
         [](const Plains& in) {
           return plain_total(in[0], 1.0 / static_cast<double>(in[0].values.size()));
         },
     .large = {{999, 301}}},
    sum_case("SumFirstAxis", 0),
    sum_case("SumSecondAxis", 1),
    sum_case("SumLastAxis", -1),
    {.name = "MeanLastAxis",
     .shapes = {{{4, 6}}, {{1, 1}}, {{0, 6}}},
     .op = [](const Inputs& in) { return mean(in[0], -1); },
     .plain =
         [](const Plains& in) {
           return plain_sum(in[0], -1, 1.0 / static_cast<double>(in[0].width()));
         }},
});

TEST(Reduce, OfNothingIsZero) {
  EXPECT_EQ(sum(Tensor::zeros({0, 3})).item(), 0.0f);
  EXPECT_EQ(mean(Tensor::zeros({0, 3})).item(), 0.0f);
  EXPECT_EQ(mean(Tensor::zeros({0, 3}), 0).to_vector(), (std::vector<float>{0, 0, 0}));
}

TEST(Reduce, MissingAxisIsNamed) {
  EXPECT_EQ(message_of([] {
              sum(Tensor::zeros({2, 3}), 2);
            }),
            "axis 2 does not exist in shape [2, 3]");
}

TEST(Reduce, LongSumsStayExact) {
  EXPECT_EQ(sum(Tensor::full({1 << 22}, 0.1f)).item(), 0.1f * (1 << 22));
}

}  // namespace
}  // namespace attend
