// Self-attention without parameters: y = softmax(x x^T) x. When a row is its own best match, what a
// row's weight on itself is, and in what the result is linear.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/attention/attention.h"
#include "attend/attention/recorder.h"
#include "attend/ops/elementwise.h"

using namespace attend;

Tensor random(size_t rows, size_t width, uint64_t stream) {
  Tensor x = Tensor::empty({rows, width});
  fill_normal(x.span(), RandomStream(6, stream), 0.0f, 1.0f);
  return x;
}

// The rows with lengths of one, times `length`.
Tensor of_length(const Tensor& x, float length) {
  Tensor y = Tensor::of(x.to_vector(), x.shape());
  for (size_t row = 0; row < y.rows(); ++row) {
    const auto values = y.slice_rows(row, 1).span();
    float squares = 0.0f;
    for (const float v : values) squares += v * v;
    for (float& v : values) v *= length / std::sqrt(squares);
  }
  return y;
}

Tensor weights_of(const Tensor& x, const Mask& mask = {}) {
  Recorder recorder;
  attention(x, x, x, {.mask = mask});
  return recorder.heads[0].weights;
}

void print(const char* title, const Tensor& weights) {
  fmt::print("{}\n", title);
  for (size_t row = 0; row < weights.rows(); ++row) {
    fmt::print("  {:.2f}\n", fmt::join(weights.slice_rows(row, 1).to_vector(), " "));
  }
}

// How many of all rows weigh themselves most.
double percent_own(bool like_lengths, size_t width) {
  double own = 0.0;
  for (uint64_t i = 0; i < 100; ++i) {
    const Tensor x = random(10, width, 100 + i);
    const Tensor weights = weights_of(like_lengths ? of_length(x, 3.0f) : x);
    for (size_t row = 0; row < 10; ++row) {
      const auto values = weights.slice_rows(row, 1).to_vector();
      own += *std::ranges::max_element(values) == values[row] ? 1.0 : 0.0;
    }
  }
  return own / 10.0;
}

float most_apart(const Tensor& a, const Tensor& b) {
  float most = 0.0f;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a.data()[i] - b.data()[i]));
  return most;
}

int main() {
  Tensor x = of_length(random(4, 4, 1), 2.5f);
  print("four rows of one length: the diagonal is largest", weights_of(x));
  for (float& v : x.slice_rows(2, 1).span()) v *= 3.0f;
  print("the third row made three times as long", weights_of(x));
  fmt::print("% of rows that weigh themselves most\n  width   one length   any length\n");
  for (const size_t width : {2, 8, 32, 128}) {
    fmt::print("  {:5}   {:10.0f}   {:10.0f}\n", width, percent_own(true, width),
               percent_own(false, width));
  }
  PairMask others({4, 4}, {0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0});
  print("without themselves", weights_of(of_length(x, 2.5f), {.pairs = others}));

  // Linear in the values as long as the weights stay; not in x, which makes the weights, too.
  const Tensor q = random(4, 4, 2), a = random(4, 4, 3), b = random(4, 4, 4);
  const auto with_values = [&](const Tensor& v) { return attention(q, q, v).output; };
  const auto itself = [](const Tensor& v) { return attention(v, v, v).output; };
  fmt::print("f(a + b) and f(a) + f(b) differ by\n");
  fmt::print("  values alone: {:.2f}\n",
             most_apart(with_values(add(a, b)), add(with_values(a), with_values(b))));
  fmt::print("  all of x:     {:.2f}\n", most_apart(itself(add(a, b)), add(itself(a), itself(b))));
}

// Prints, numbers within 1 %:
// four rows of one length: the diagonal is largest
//   0.70 0.01 0.11 0.19
//   0.01 0.87 0.01 0.11
//   0.13 0.01 0.82 0.04
//   0.19 0.09 0.03 0.69
// the third row made three times as long
//   0.31 0.00 0.61 0.08
//   0.01 0.88 0.00 0.11
//   0.00 0.00 1.00 0.00
//   0.19 0.09 0.04 0.69
// % of rows that weigh themselves most
//   width   one length   any length
//       2          100           40
//       8          100           90
//      32          100          100
//     128          100          100
// without themselves
//   0.00 0.02 0.36 0.62
//   0.06 0.00 0.09 0.85
//   0.72 0.06 0.00 0.22
//   0.60 0.29 0.10 0.00
// f(a + b) and f(a) + f(b) differ by
//   values alone: 0.00
//   all of x:     0.76
