#include "attend/ops/maxout.h"

#include <gtest/gtest.h>

#include "tests/errors.h"
#include "tests/ops/op_case.h"

namespace attend {
namespace {

using plain::Plain;

Plain plain_maxout(const Plain& x) {
  Shape shape = x.shape;
  shape.set(-1, shape.width() / 2);
  Plain y(shape);
  for (size_t i = 0; i < y.values.size(); ++i) {
    y.values[i] = std::max(x.values[2 * i], x.values[2 * i + 1]);
  }
  return y;
}

const RegisterOps kMaxoutCases({{.name = "maxout",
                                 .shapes = {{{5, 6}}, {{1, 2}}, {{0, 4}}, {{2, 3, 8}}},
                                 .op = [](const auto& in) { return maxout(in[0]); },
                                 .plain = [](const auto& in) { return plain_maxout(in[0]); },
                                 .large = {{300, 40}}}});

TEST(Maxout, RefusesOddWidths) {
  expect_error<ShapeError>([] { maxout(Tensor::zeros({2, 3})); }, "[2, 3] has no pairs");
}

}  // namespace
}  // namespace attend
