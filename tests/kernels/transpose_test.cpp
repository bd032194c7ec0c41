#include "attend/kernels/transpose.h"

#include "tests/kernels/test_rows.h"

namespace attend::kernels {
namespace {

TEST(Transpose, SwapsRowsAndColumns) {
  for_each_shape([&](size_t count, size_t width) {
    const TestRows x(count, width, 1);
    for (const bool add : {false, true}) {
      TestRows y(width, count, 2, 5);
      const TestRows before = y;
      transpose(x, y, add);
      expect_rows_near(y, 0, [&](size_t j, size_t i) -> double {
        return add ? before(j, i) + x(i, j) : x(i, j);
      });
    }
  });
}

}  // namespace
}  // namespace attend::kernels
