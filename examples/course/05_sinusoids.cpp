// Sinusoidal positions (Vaswani et al., 2017): pairs of columns are clock hands, each pair slower
// than the one before. A step of k positions turns every hand by an angle of its own, whatever the
// time is: a shift is a rotation, and a product of two positions depends on their distance alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include "attend/inspect/draw.h"
#include "attend/nn/positions.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/linear.h"
#include "attend/ops/shape.h"

using namespace attend;

constexpr size_t kLength = 64, kWidth = 32;

// The matrix that turns the hands of any position by `shift` positions.
Tensor rotation(size_t shift) {
  Tensor matrix = Tensor::zeros({kWidth, kWidth});
  for (size_t i = 0; i < kWidth; i += 2) {
    const double angle =
        static_cast<double>(shift) / std::pow(10000.0, static_cast<double>(i) / kWidth);
    const auto cosine = static_cast<float>(std::cos(angle)),
               sine = static_cast<float>(std::sin(angle));
    float* at = matrix.data() + i * kWidth + i;
    at[0] = cosine, at[1] = sine, at[kWidth] = -sine, at[kWidth + 1] = cosine;
  }
  return matrix;
}

float most_apart(const Tensor& a, const Tensor& b) {
  float most = 0.0f;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a.data()[i] - b.data()[i]));
  return most;
}

HeatMap picture(const char* title, const Tensor& values) {
  HeatMap map;
  map.title = title, map.values = values, map.has_sign = true, map.note = "";
  map.rows = std::vector<std::string>(values.rows(), "");
  map.columns = std::vector<std::string>(values.width(), "");
  map.most = map.largest();
  return map;
}

int main(int count, char** arguments) {
  const Tensor table = sinusoids(kLength, kWidth);  // [positions, columns]
  fmt::print("positions in a turn:");
  for (const size_t pair : {0, 4, 8, 12, 15}) {
    fmt::print("  pair {} {:.0f}", pair,
               2 * std::numbers::pi * std::pow(10000.0, 2.0 * static_cast<double>(pair) / kWidth));
  }
  fmt::print("\n");

  for (const size_t shift : {1, 10, 40}) {
    const Tensor turned = linear(table.slice_rows(0, kLength - shift), rotation(shift));
    fmt::print("turned by {:2} positions, off by at most {:.3f}\n", shift,
               most_apart(turned, table.slice_rows(shift, kLength - shift)));
  }

  const Tensor products = matmul(table, table, {.transpose_b = true});
  fmt::print("product of two positions\n  positions apart ");
  for (const size_t distance : {0, 1, 2, 4, 8, 16, 32}) fmt::print(" {:5}", distance);
  for (const size_t from : {0, 20}) {
    fmt::print("\n  from position {:<2}", from);
    for (const size_t distance : {0, 1, 2, 4, 8, 16, 32}) {
      fmt::print(" {:5.1f}", products.data()[from * kLength + from + distance]);
    }
  }
  fmt::print("\n");

  // Beside the words: the layer that reads them has columns of its own for positions, so that it
  // computes what it would of a sum of words and positions, each through a matrix of its own.
  Tensor words = Tensor::empty({kLength, kWidth}), weight = Tensor::empty({8, 2 * kWidth});
  fill_normal(words.span(), RandomStream(1, 0), 0.0f, 1.0f);
  fill_normal(weight.span(), RandomStream(1, 1), 0.0f, 0.1f);
  const Tensor beside = linear(concat({words, table}, 1), weight);
  const Tensor added = add(linear(words, contiguous(weight.slice_columns(0, kWidth))),
                           linear(table, contiguous(weight.slice_columns(kWidth, kWidth))));
  fmt::print("W [x; p] and W1 x + W2 p are at most {:.3f} apart\n", most_apart(beside, added));

  if (count > 1) {  // draws the table, and the products, into a file
    const std::array<HeatMap, 2> maps = {
        picture("position by column", table),
        picture("products of positions / 16", scale(products, 2.0f / kWidth))};
    std::ofstream(arguments[1]) << draw_maps(maps, PictureFormat::kSvg);
  }
}

// Prints, numbers within 1 %:
// positions in a turn:  pair 0 6  pair 4 63  pair 8 628  pair 12 6283  pair 15 35333
// turned by  1 positions, off by at most 0.000
// turned by 10 positions, off by at most 0.000
// turned by 40 positions, off by at most 0.000
// product of two positions
//   positions apart      0     1     2     4     8    16    32
//   from position 0   16.0  15.3  13.7  11.7  10.5   7.9   9.6
//   from position 20  16.0  15.3  13.7  11.7  10.5   7.9   9.6
// W [x; p] and W1 x + W2 p are at most 0.000 apart
