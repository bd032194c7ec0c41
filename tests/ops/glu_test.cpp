#include "attend/ops/glu.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/errors.h"
#include "tests/ops/op_case.h"

namespace attend {
namespace {

using plain::Plain;

Plain plain_glu(const Plain& x) {
  Shape shape = x.shape;
  shape.set(-1, shape.width() / 2);
  Plain y(shape);
  for (size_t i = 0; i < y.rows(); ++i) {
    for (size_t j = 0; j < y.width(); ++j) {
      y(i, j) = x(i, j) / (1 + std::exp(-x(i, y.width() + j)));
    }
  }
  return y;
}

const RegisterOps kGluCases({{.name = "glu",
                              .shapes = {{{5, 6}}, {{1, 2}}, {{0, 4}}, {{2, 3, 38}}},
                              .op = [](const auto& in) { return glu(in[0]); },
                              .plain = [](const auto& in) { return plain_glu(in[0]); },
                              .large = {{900, 130}}}});

TEST(Glu, RefusesOddWidths) {
  expect_error<ShapeError>([] { glu(Tensor::zeros({2, 3})); }, "[2, 3] has no two halves");
}

}  // namespace
}  // namespace attend
