#include "attend/ops/linear.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/errors.h"
#include "tests/ops/op_case.h"
#include "tests/plain/linear.h"

namespace attend {
namespace {

using plain::Plain;
using Inputs = std::vector<Tensor>;
using Plains = std::vector<Plain>;

const std::vector<std::vector<Shape>> kWithBias = {{{5, 7}, {6, 7}, {6}},
                                                   {{1, 3}, {2, 3}, {2}},
                                                   {{0, 3}, {2, 3}, {2}},
                                                   {{2, 3, 4}, {9, 4}, {9}},
                                                   {{4}, {3, 4}, {3}}};
const std::vector<Shape> kLargeShapes = {{300, 70}, {130, 70}, {130}};

OpCase linear_case(const char* name, Activation activation, double (*twin)(double)) {
  return {
      .name = name,
      .shapes = kWithBias,
      .op = [activation](const Inputs& in) { return linear(in[0], in[1], in[2], activation); },
      .plain = [twin](const Plains& in) { return map(plain::linear(in[0], in[1], &in[2]), twin); },
      .large = kLargeShapes};
}

// Products with each operand stored either way round.
OpCase matmul_case(const char* name, MatmulOptions options, std::vector<std::vector<Shape>> shapes,
                   std::vector<Shape> large) {
  return {.name = name,
          .shapes = std::move(shapes),
          .op = [options](const Inputs& in) { return matmul(in[0], in[1], options); },
          .plain =
              [options](const Plains& in) {
                return plain::matmul(options.transpose_a ? plain::transpose(in[0]) : in[0],
                                     options.transpose_b ? plain::transpose(in[1]) : in[1]);
              },
          .large = std::move(large)};
}

const RegisterOps kLinearCases({
    linear_case("Linear", Activation::kIdentity, [](double x) { return x; }),
    linear_case("LinearTanh", Activation::kTanh, [](double x) { return std::tanh(x); }),
    linear_case("LinearRelu", Activation::kRelu, [](double x) { return x > 0 ? x : 0; }),
    linear_case("LinearSilu", Activation::kSilu, [](double x) { return x / (1 + std::exp(-x)); }),
    {.name = "LinearWithoutBias",
     .shapes = {{{5, 7}, {6, 7}}, {{1, 3}, {2, 3}}, {{0, 3}, {2, 3}}},
     .op = [](const Inputs& in) { return linear(in[0], in[1]); },
     .plain = [](const Plains& in) { return plain::linear(in[0], in[1], nullptr); },
     .large = {{300, 70}, {130, 70}}},
    matmul_case("Matmul", {},
                {{{5, 7}, {7, 6}}, {{1, 1}, {1, 1}}, {{0, 3}, {3, 2}}, {{2, 0}, {0, 3}}},
                {{200, 150}, {150, 170}}),
    matmul_case("MatmulFirstTransposed", {.transpose_a = true},
                {{{7, 5}, {7, 6}}, {{1, 4}, {1, 3}}, {{3, 0}, {3, 2}}}, {{150, 200}, {150, 170}}),
    matmul_case("MatmulSecondTransposed", {.transpose_b = true},
                {{{5, 7}, {6, 7}}, {{1, 4}, {1, 4}}, {{0, 3}, {2, 3}}}, {{200, 150}, {170, 150}}),
    matmul_case("MatmulBothTransposed", {.transpose_a = true, .transpose_b = true},
                {{{7, 5}, {6, 7}}, {{4, 1}, {1, 4}}, {{3, 0}, {2, 3}}}, {{150, 200}, {170, 150}}),
    matmul_case("MatmulBatch", {},
                {{{3, 5, 7}, {3, 7, 6}}, {{1, 1, 2}, {1, 2, 1}}, {{0, 2, 3}, {0, 3, 2}}},
                {{16, 40, 50}, {16, 50, 30}}),
    matmul_case("MatmulBatchTransposed", {.transpose_a = true, .transpose_b = true},
                {{{3, 7, 5}, {3, 6, 7}}}, {{16, 50, 40}, {16, 30, 50}}),
});

TEST(Linear, WrongShapesAreNamed) {
  const Tensor x = Tensor::zeros({2, 3}), weight = Tensor::zeros({4, 5});
  EXPECT_EQ(message_of([&] { linear(x, weight); }),
            "linear: input [2, 3] does not fit weight [4, 5], which is [out, in]");
  EXPECT_EQ(message_of([&] {
              linear(Tensor::zeros({2, 5}), weight, Tensor::zeros({5}));
            }),
            "linear: bias [5] does not fit weight [4, 5], which has 4 outputs");
}

TEST(Matmul, WrongShapesAreNamed) {
  const Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({4, 5});
  EXPECT_EQ(message_of([&] { matmul(a, b); }), "matmul: [2, 3] and [4, 5] cannot be multiplied");
  EXPECT_EQ(message_of([&] { matmul(a, b, {.transpose_b = true}); }),
            "matmul: [2, 3] and [4, 5] transposed cannot be multiplied");
  EXPECT_EQ(message_of([&] {
              matmul(Tensor::zeros({2, 3, 4}), Tensor::zeros({3, 4, 5}));
            }),
            "matmul: [2, 3, 4] and [3, 4, 5] cannot be multiplied");
}

}  // namespace
}  // namespace attend
