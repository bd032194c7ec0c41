#include "attend/ops/shape.h"

#include <gtest/gtest.h>

#include "attend/ops/elementwise.h"
#include "attend/ops/embedding.h"
#include "tests/errors.h"
#include "tests/ops/op_case.h"
#include "tests/plain/linear.h"

namespace attend {
namespace {

using plain::Plain;
using Inputs = std::vector<Tensor>;
using Plains = std::vector<Plain>;

// [begin, begin + count) along an axis, element by element.
Plain plain_slice(const Plain& x, int axis, size_t begin, size_t count) {
  Shape shape = x.shape;
  shape.set(axis, count);
  Plain y(shape);
  const Shape::Around from = x.shape.around(axis), to = shape.around(axis);
  for (size_t i = 0; i < y.values.size(); ++i) {
    const size_t before = i / (to.at * to.after), at = i / to.after % to.at, after = i % to.after;
    y.values[i] = x.values[(before * from.at + begin + at) * from.after + after];
  }
  return y;
}

Plain plain_concat(const Plains& parts, int axis) {
  Shape shape = parts[0].shape;
  size_t total = 0;
  for (const Plain& part : parts) total += part.shape[axis];
  shape.set(axis, total);
  Plain y(shape);
  const Shape::Around to = shape.around(axis);
  size_t begin = 0;
  for (const Plain& part : parts) {
    const Shape::Around from = part.shape.around(axis);
    for (size_t i = 0; i < part.values.size(); ++i) {
      const size_t before = i / (from.at * from.after), rest = i % (from.at * from.after);
      y.values[(before * to.at + begin) * to.after + rest] = part.values[i];
    }
    begin += from.at;
  }
  return y;
}

// Element by element: index i of y along axis a is index i of x along axes[a].
Plain plain_permute(const Plain& x, const std::vector<int>& axes) {
  Shape shape = x.shape;
  for (size_t a = 0; a < axes.size(); ++a) {
    shape.set(static_cast<int>(a), x.shape[axes[a]]);
  }
  Plain y(shape);
  for (size_t i = 0; i < y.values.size(); ++i) {
    size_t rest = i, from = 0;
    for (size_t a = axes.size(); a-- > 0;) {
      const size_t index = rest % shape[static_cast<int>(a)];
      rest /= shape[static_cast<int>(a)];
      from += index * x.shape.around(axes[a]).after;
    }
    y.values[i] = x.values[from];
  }
  return y;
}

OpCase permute_case(const char* name, std::vector<int> axes, std::vector<std::vector<Shape>> shapes,
                    std::vector<Shape> large = {}) {
  return {.name = name,
          .shapes = std::move(shapes),
          .op = [axes](const Inputs& in) { return permute(in[0], axes); },
          .plain = [axes](const Plains& in) { return plain_permute(in[0], axes); },
          .large = std::move(large)};
}

// A slice, times two so that there is something for the gradient to do.
OpCase slice_case(const char* name, int axis, std::vector<std::vector<Shape>> shapes) {
  return {.name = name,
          .shapes = std::move(shapes),
          .op = [axis](const Inputs& in) { return scale(slice(in[0], axis, 1, 2), 2.0f); },
          .plain =
              [axis](const Plains& in) {
                return map(plain_slice(in[0], axis, 1, 2), [](double x) { return 2 * x; });
              }};
}

OpCase concat_case(const char* name, int axis, std::vector<std::vector<Shape>> shapes) {
  return {.name = name,
          .shapes = std::move(shapes),
          .op = [axis](const Inputs& in) { return concat(in, axis); },
          .plain = [axis](const Plains& in) { return plain_concat(in, axis); }};
}

const RegisterOps kShapeCases({
    slice_case("SliceFirstAxis", 0, {{{4, 3}}, {{3, 1}}, {{4}}, {{3, 2, 5}}}),
    slice_case("SliceMiddleAxis", 1, {{{2, 4, 3}}, {{1, 3, 1}}, {{0, 3, 4}}, {{2, 3, 2, 2}}}),
    slice_case("SliceLastAxis", -1, {{{3, 4}}, {{1, 3}}, {{0, 4}}, {{2, 2, 3}}}),
    concat_case("ConcatFirstAxis", 0, {{{2, 3}, {4, 3}}, {{1, 3}, {0, 3}, {2, 3}}, {{2}, {3}}}),
    concat_case("ConcatMiddleAxis", 1,
                {{{2, 3, 4}, {2, 1, 4}}, {{1, 1, 1}, {1, 1, 1}}, {{0, 2, 3}, {0, 1, 3}}}),
    concat_case("ConcatLastAxis", -1,
                {{{2, 3}, {2, 4}, {2, 1}}, {{1, 1}, {1, 2}}, {{0, 3}, {0, 2}}}),
    {.name = "SplitAndMultiply",
     .shapes = {{{4, 6}}, {{1, 6}}, {{0, 6}}},
     .op =
         [](const Inputs& in) {
           const auto parts = split(in[0], {2, 2, 2}, -1);
           return add(multiply(parts[0], parts[1]), parts[2]);
         },
     .plain =
         [](const Plains& in) {
           const auto part = [&](size_t i) { return plain_slice(in[0], -1, 2 * i, 2); };
           return zip(zip(part(0), part(1), std::multiplies{}), part(2), std::plus{});
         }},
    permute_case("PermuteMiddleAxes", {0, 2, 1, 3},
                 {{{2, 3, 4, 5}}, {{1, 1, 1, 1}}, {{0, 3, 2, 4}}, {{2, 3, 0, 4}}},
                 {{4, 30, 9, 70}}),
    permute_case("PermuteLastAxis", {2, 0, 1}, {{{2, 3, 4}}, {{1, 5, 1}}, {{3, 0, 2}}},
                 {{40, 30, 50}}),
    permute_case("PermuteFromTheEnd", {-1, 0, -3, 2},
                 {{{2, 3, 4, 5}}, {{1, 2, 1, 3}}, {{2, 0, 3, 1}}}),
    permute_case("PermuteMatrix", {1, 0}, {{{5, 3}}, {{1, 4}}, {{0, 3}}}),
    permute_case("PermuteFiveAxes", {4, 2, 0, 1, 3}, {{{2, 3, 1, 4, 2}}, {{1, 1, 1, 1, 1}}}),
    permute_case("PermuteNothing", {0, 1, 2}, {{{2, 3, 4}}, {{1, 1, 3}}, {{0, 1, 2}}}),
    {.name = "Transpose",
     .shapes = {{{5, 3}}, {{1, 4}}, {{0, 3}}},
     .op = [](const Inputs& in) { return transpose(in[0]); },
     .plain = [](const Plains& in) { return plain::transpose(in[0]); },
     .large = {{300, 500}}},
    {.name = "Reshape",
     .shapes = {{{4, 6}}, {{1, 6}}, {{0, 6}}},
     .op =
         [](const Inputs& in) {
           return scale(reshape(in[0], {in[0].size() / 3, 3}), 3.0f);
         },
     .plain =
         [](const Plains& in) {
           Plain y(Shape{in[0].values.size() / 3, 3});
           for (size_t i = 0; i < y.values.size(); ++i) y.values[i] = 3 * in[0].values[i];
           return y;
         }},
    {.name = "GatherRows",
     .shapes = {{{4, 6}}, {{2, 1}}},
     .op =
         [](const Inputs& in) {
           return gather_rows(in[0], Tensor::ids({1, 0, 1}));
         },
     .plain =
         [](const Plains& in) {
           Plain y(Shape{3, in[0].width()});
           for (size_t j = 0; j < y.width(); ++j) {
             y(0, j) = y(2, j) = in[0](1, j);
             y(1, j) = in[0](0, j);
           }
           return y;
         }},
});

TEST(Split, MustCoverTheAxis) {
  EXPECT_THROW(split(Tensor::zeros({2, 5}), {2, 2}, -1), ShapeError);
}

TEST(Split, IsFreeOfCopies) {
  const Tensor x = Tensor::zeros({2, 6});
  const auto parts = split(x, {2, 4}, -1);
  EXPECT_EQ(parts[1].storage(), x.storage());
}

TEST(Slice, OutOfRangeIsRefused) {
  const Tensor x = Tensor::zeros({2, 5, 3});
  EXPECT_THROW(slice(x, 0, 1, 2), ShapeError);
  EXPECT_THROW(slice(x, 1, 4, 2), ShapeError);
  EXPECT_THROW(slice(x, 2, 4, 1), ShapeError);
  EXPECT_THROW(slice(x, 3, 0, 1), ShapeError);
}

TEST(Concat, WrongShapesAreNamed) {
  EXPECT_EQ(message_of([] {
              concat({Tensor::zeros({2, 3}), Tensor::zeros({2, 4})}, 0);
            }),
            "concat: [2, 3] and [2, 4] differ in more than axis 0");
  EXPECT_THROW(concat({Tensor::zeros({2, 3}), Tensor::zeros({2})}, 0), ShapeError);
  EXPECT_THROW(concat(std::span<const Tensor>{}, 0), ShapeError);
}

TEST(Permute, EveryAxisIsNamedOnce) {
  const Tensor x = Tensor::zeros({2, 3, 4});
  EXPECT_EQ(message_of([&] {
              permute(x, {0, 1});
            }),
            "permute: axes 0, 1 of [2, 3, 4]; name each of its 3 axes once");
  EXPECT_EQ(message_of([&] {
              permute(x, {0, 1, -2});
            }),
            "permute: axes 0, 1, -2 of [2, 3, 4]; name each of its 3 axes once");
  EXPECT_THROW(permute(x, {0, 1, 3}), ShapeError);
  EXPECT_THROW(permute(x, {0, 1, 2, 0}), ShapeError);
}

TEST(Transpose, TakesMatricesOnly) {
  EXPECT_THROW(transpose(Tensor::zeros({2, 3, 4})), ShapeError);
}

}  // namespace
}  // namespace attend
