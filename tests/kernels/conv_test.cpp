// Convolution kernels on every SIMD target, at odd sizes and misaligned, against plain loops in
// double.
#include "attend/kernels/conv.h"

#include <gtest/gtest.h>

#include "attend/base/rng.h"
#include "attend/kernels/im2col.h"
#include "tests/kernels/targets.h"
#include "tests/plain/conv.h"

namespace attend::kernels {
namespace {

using plain::Plain;

// Random values that start one float past an aligned address, rows `gap` floats apart.
class Buffer {
 public:
  Buffer(size_t rows, size_t width, uint64_t stream, size_t gap = 0)
      : rows_(rows), width_(width), stride_(width + gap), values_(rows * stride_ + 1) {
    fill_uniform(values_, RandomStream(3, stream), -1.0f, 1.0f);
  }

  Matrix matrix() const { return {values_.data() + 1, stride_}; }
  MutableMatrix target() { return {values_.data() + 1, stride_}; }
  float at(size_t row, size_t column) const { return values_[1 + row * stride_ + column]; }
  Plain plain(const Shape& shape) const {
    Plain result(shape);
    for (size_t i = 0; i < result.values.size(); ++i) result.values[i] = at(i / width_, i % width_);
    return result;
  }
  void expect_equals(const Plain& expected) const {
    for (size_t r = 0; r < rows_; ++r) {
      for (size_t c = 0; c < width_; ++c) {
        ASSERT_NEAR(at(r, c), expected.values[r * width_ + c], 2e-5)
            << "row " << r << " column " << c;
      }
    }
  }

 private:
  size_t rows_, width_, stride_;
  std::vector<float> values_;
};

struct ConvCase {
  size_t in, out;
  Conv1dOptions options;
  size_t kernel;
};

const std::vector<ConvCase> kConvCases = {
    {37, 29, {.left = 2}, 3},
    {16, 16, {.dilation = 3, .left = 3, .right = 3}, 3},
    {9, 17, {.stride = 2, .left = 1, .right = 1}, 3},
    {21, 14, {.groups = 7, .left = 1}, 2},
    {37, 37, {.groups = 37, .left = 2}, 3},
    {3, 3, {.stride = 3, .groups = 3, .left = 1, .right = 2}, 4},
    {7, 5, {}, 1},
};

// The gradient of the plain convolution, which is linear in x and in the weight.
struct PlainGradients {
  Plain dx, dweight;
};

PlainGradients plain_gradients(const Plain& x, const Plain& weight, const Plain& dy,
                               const Packing& packing, const ConvCase& c) {
  PlainGradients grads{Plain(x.shape), Plain(weight.shape)};
  const auto& o = c.options;
  const size_t in = c.in / o.groups, out = c.out / o.groups;
  plain::for_each_tap(
      plain::images_of(packing),
      {{1, c.kernel}, {1, o.stride}, {1, o.dilation}, {0, o.left}, {0, o.right}},
      [&](size_t y_row, size_t tap, size_t x_row) {
        for (size_t i = 0; i < c.out * in; ++i) {
          const size_t to = i / in, from = to / out * in + i % in;
          grads.dx(x_row, from) += dy(y_row, to) * weight.values[i * c.kernel + tap];
          grads.dweight.values[i * c.kernel + tap] += dy(y_row, to) * x(x_row, from);
        }
      });
  return grads;
}

void add_values(const Plain& from, Plain& to) {
  for (size_t i = 0; i < to.values.size(); ++i) to.values[i] += from.values[i];
}

void check(const ConvCase& c, const Packing& from, size_t gap) {
  const auto& o = c.options;
  const WindowAxis axis{c.kernel, o.stride, o.dilation, o.left, o.right};
  std::vector<int32_t> lengths;
  for (size_t i = 0; i < from.count(); ++i)
    lengths.push_back(static_cast<int32_t>(axis.count(from.length(i))));
  const Packing to(lengths);
  const Convolution conv{
      c.in,
      c.out,
      o.groups,
      {{}, axis, Places::sequences(from.offsets()), Places::sequences(to.offsets())}};

  const size_t in = c.in / o.groups;
  const Buffer x(from.rows(), c.in, 0, gap), weight(c.out * in, c.kernel, 1, gap),
      bias(1, c.out, 2);
  const Plain px = x.plain({from.rows(), c.in}), pw = weight.plain({c.out, in, c.kernel});
  Buffer y(to.rows(), c.out, 4, gap);
  conv_forward(conv, x.matrix(), weight.matrix(), bias.matrix().data, y.target());
  y.expect_equals(plain::conv1d({px, pw, bias.plain({c.out})}, from, o));

  const Buffer dy(to.rows(), c.out, 5, gap);
  const PlainGradients expected = plain_gradients(px, pw, dy.plain({to.rows(), c.out}), from, c);
  for (const bool adds : {false, true}) {
    Buffer dx(from.rows(), c.in, 6, gap), dweight(c.out * in, c.kernel, 7, gap);
    Plain expected_dx = expected.dx, expected_dweight = expected.dweight;
    if (adds)
      add_values(dx.plain(px.shape), expected_dx),
          add_values(dweight.plain(pw.shape), expected_dweight);
    conv_backward_input(conv, dy.matrix(), weight.matrix(), dx.target(), adds);
    conv_backward_weight(conv, x.matrix(), dy.matrix(), dweight.target(), adds);
    dx.expect_equals(expected_dx);
    dweight.expect_equals(expected_dweight);
  }
}

TEST(ConvKernel, EveryTargetMatchesPlainLoops) {
  for_each_target([] {
    for (size_t i = 0; i < kConvCases.size(); ++i) {
      SCOPED_TRACE("case " + std::to_string(i));
      check(kConvCases[i], Packing::of({11, 0, 1, 40, 6}), 0);
      check(kConvCases[i], Packing::of({11, 0, 1, 40, 6}), 3);
      check(kConvCases[i], Packing::of({0}), 0);
    }
  });
}

TEST(ConvKernel, LeavesWhatLiesBetweenRowsAlone) {
  const Packing packing = Packing::of({9});
  const Places places = Places::sequences(packing.offsets());
  for (const size_t groups : {1, 5}) {
    const Convolution conv{
        5, 5, groups, {{}, {.kernel = 3, .before = 1, .after = 1}, places, places}};
    const Buffer x(9, 5, 0), weight(25 / groups, 3, 1);
    Buffer y(9, 8, 2);
    const Buffer before = y;
    conv_forward(conv, x.matrix(), weight.matrix(), nullptr, y.target());
    conv_backward_input(conv, x.matrix(), weight.matrix(), y.target(), false);
    for (size_t r = 0; r < 9; ++r) {
      for (size_t c = 5; c < 8; ++c) EXPECT_EQ(y.at(r, c), before.at(r, c));
    }
  }
}

// sum(im2col(x) * columns) = sum(x * col2im(columns)): one is the adjoint of the other.
TEST(Im2col, Col2imIsItsAdjoint) {
  const Windows windows{
      {2, 2, 1, 1, 1}, {3, 1, 2, 2, 2}, Places::images(2, 5, 6), Places::images(2, 3, 6)};
  for_each_target([&] {
    constexpr size_t kChannels = 7;
    const size_t rows = windows.to.rows(), width = windows.taps() * kChannels;
    const Buffer x(windows.from.rows(), kChannels, 0, 2), columns(rows, width, 1);
    std::vector<float> laid_out(rows * width);
    im2col(windows, {0, rows}, x.matrix(), {1, kChannels}, laid_out.data());
    Buffer back(windows.from.rows(), kChannels, 2, 1);
    const Plain before = back.plain({windows.from.rows(), kChannels});
    col2im(windows, {0, rows}, columns.matrix().data, kChannels, back.target());
    double left = 0, right = 0;
    for (size_t i = 0; i < laid_out.size(); ++i)
      left += laid_out[i] * columns.at(i / width, i % width);
    for (size_t i = 0; i < before.values.size(); ++i) {
      const size_t r = i / kChannels, c = i % kChannels;
      right += x.at(r, c) * (back.at(r, c) - before.values[i]);
    }
    EXPECT_NEAR(left, right, 1e-4);
    EXPECT_GT(std::abs(left), 0.1);
  });
}

TEST(WindowWalk, StartsAnywhere) {
  const Packing packing = Packing::of({0, 3, 0, 0, 2, 0});
  const Places places = Places::sequences(packing.offsets());
  const Windows windows{{}, {.kernel = 2, .before = 1}, places, places};
  const std::vector<std::vector<size_t>> expected{
      {kOutside, 0}, {0, 1}, {1, 2}, {kOutside, 3}, {3, 4}};
  for (size_t begin = 0; begin < 5; ++begin) {
    size_t row = begin;
    for (WindowWalk walk(windows, begin); walk.row() < 5; walk.next(), ++row) {
      EXPECT_EQ(std::vector(walk.sources().begin(), walk.sources().end()), expected[row]);
    }
    EXPECT_EQ(row, 5u);
  }
}

}  // namespace
}  // namespace attend::kernels
