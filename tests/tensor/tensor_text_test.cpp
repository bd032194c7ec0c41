#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "attend/tensor/tensor.h"

namespace attend {
namespace {

Tensor counted(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  std::iota(x.span().begin(), x.span().end(), 0.0f);
  return x;
}

TEST(TensorText, ShowsTypeShapeAndValues) {
  EXPECT_EQ(Tensor::of({0.5f, -1, 2, 0.25f}, {2, 2}).text(),
            "float32 [2, 2]\n"
            "[[ 0.5000 -1.0000]\n"
            " [ 2.0000  0.2500]]");
  EXPECT_EQ(Tensor::of({1, 20, -3}, {3}).text(), "float32 [3] [ 1 20 -3]");
  EXPECT_EQ(Tensor::ids({7, -100, 12}).text(), "int32 [3] [   7 -100   12]");
  EXPECT_EQ(Tensor::of({0.125f}, {}).text(), "float32 [] 0.1250");
  EXPECT_EQ(counted({2, 2, 2}).text(),
            "float32 [2, 2, 2]\n"
            "[[[0 1]\n"
            "  [2 3]]\n"
            "\n"
            " [[4 5]\n"
            "  [6 7]]]");
}

TEST(TensorText, AViewShowsItsOwnValues) {
  const Tensor x = counted({3, 4});
  EXPECT_EQ(x.slice_columns(1, 2).text(),
            "float32 [3, 2]\n"
            "[[ 1  2]\n"
            " [ 5  6]\n"
            " [ 9 10]]");
  EXPECT_EQ(x.slice_rows(1, 1).slice_columns(2, 2).text(), "float32 [1, 2]\n[[6 7]]");
}

TEST(TensorText, WithoutValues) {
  EXPECT_EQ(Tensor().text(), "undefined tensor");
  EXPECT_EQ(Tensor::zeros({0, 3}).text(), "float32 [0, 3] []");
  EXPECT_EQ(Tensor::unallocated({2}).text(), "float32 [2] without memory");
}

TEST(TensorText, LargeAndSmallValuesHaveExponents) {
  EXPECT_EQ(Tensor::of({1.5e-6f, -2e-5f}, {2}).text(), "float32 [2] [ 1.5000e-06 -2.0000e-05]");
  EXPECT_EQ(Tensor::of({1.5f, 250'000}, {2}).text(), "float32 [2] [1.5000e+00 2.5000e+05]");
  // Beside values of ordinary size, small ones are rounded.
  EXPECT_EQ(Tensor::of({1e-9f, 0.75f}, {2}).text(), "float32 [2] [0.0000 0.7500]");
  EXPECT_EQ(Tensor::of({INFINITY, -INFINITY, NAN, 0.5f}, {4}).text(),
            "float32 [4] [   inf   -inf    nan 0.5000]");
}

TEST(TensorText, TheMiddleOfALargeTensorIsElided) {
  EXPECT_EQ(counted({1000}).text().find("..."), std::string::npos);
  EXPECT_EQ(counted({1001}).text(), "float32 [1001] [   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(counted({40, 30}).text(),
            "float32 [40, 30]\n"
            "[[   0    1    2 ...   27   28   29]\n"
            " [  30   31   32 ...   57   58   59]\n"
            " [  60   61   62 ...   87   88   89]\n"
            " ...\n"
            " [1110 1111 1112 ... 1137 1138 1139]\n"
            " [1140 1141 1142 ... 1167 1168 1169]\n"
            " [1170 1171 1172 ... 1197 1198 1199]]");
  // An axis of six is shown whole; values that are left out do not decide how others are written.
  Tensor x = Tensor::zeros({6, 200});
  x.data()[100] = 0.5f;
  EXPECT_EQ(x.text(),
            "float32 [6, 200]\n"
            "[[0 0 0 ... 0 0 0]\n"
            " [0 0 0 ... 0 0 0]\n"
            " [0 0 0 ... 0 0 0]\n"
            " [0 0 0 ... 0 0 0]\n"
            " [0 0 0 ... 0 0 0]\n"
            " [0 0 0 ... 0 0 0]]");
}

TEST(TensorText, LongRowsAreWrapped) {
  std::istringstream lines(counted({2, 100}).text());
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_LE(line.size(), 82u);
    if (count > 1) {
      EXPECT_TRUE(line.starts_with(" ")) << line;
    }
  }
  EXPECT_EQ(count, 13u);  // the head, and six lines a row
}

TEST(TensorText, IsWhatFmtAndStreamsPrint) {
  const Tensor x = Tensor::of({0.125f, 3}, {2});
  EXPECT_EQ(fmt::format("x = {}.", x), "x = float32 [2] [0.1250 3.0000].");
  EXPECT_EQ(fmt::format("{:.1}", x), "float32 [2] [0.1 3.0]");
  std::ostringstream out;
  out << x;
  EXPECT_EQ(out.str(), x.text());
}

}  // namespace
}  // namespace attend
