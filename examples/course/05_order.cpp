// The same words in another order. A fully connected layer has one matrix for all inputs; attention
// makes its matrix from the input. So its rows move with the words, each row does not care how the
// others are ordered, and the mean of all rows does not change at all.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "attend/attention/multi_head.h"
#include "attend/attention/recorder.h"
#include "attend/ops/linear.h"
#include "attend/ops/reduce.h"
#include "attend/tensor/tape.h"

using namespace attend;

constexpr size_t kWidth = 8;
const std::vector<std::string> kOneWay = {"dog", "bites", "man"}, kOther = {"man", "bites", "dog"};

// A fixed random vector for each word.
Tensor embedded(const std::vector<std::string>& words) {
  Tensor x = Tensor::empty({words.size(), kWidth});
  for (size_t i = 0; i < words.size(); ++i) {
    const auto number = static_cast<uint64_t>(words[i][0]);
    fill_normal(x.slice_rows(i, 1).span(), RandomStream(8, number), 0.0f, 1.5f);
  }
  return x;
}

void print(const Tensor& matrix, const std::vector<std::string>& words) {
  for (size_t row = 0; row < matrix.rows(); ++row) {
    fmt::print("  {:>5} {:5.2f}\n", words[row],
               fmt::join(matrix.slice_rows(row, 1).to_vector(), " "));
  }
}

float most_apart(const Tensor& a, const Tensor& b) {
  float most = 0.0f;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a.data()[i] - b.data()[i]));
  return most;
}

int main() {
  const NoGrad no_grad;
  Rng rng(2);
  // Both layers mix rows: output row i is a sum of rows j, by the matrix that is printed.
  const Tensor connected = parameter({3, 3}, Init::kXavierUniform, rng);
  const MultiHeadAttention layer({.width = kWidth, .heads = 1}, rng);
  std::array<Tensor, 2> mixed, attended;
  for (const bool other : {false, true}) {
    const auto& words = other ? kOther : kOneWay;
    const Tensor x = embedded(words);
    Recorder recorder;
    attended[other] = layer(x, Packing::even(1, 3));
    mixed[other] = matmul(connected, x);
    fmt::print("{}\n", fmt::join(words, " "));
    fmt::print(" fully connected\n");
    print(connected, words);
    fmt::print(" attention\n");
    print(recorder.heads[0].weights, words);
  }
  const auto row = [](const Tensor& x, size_t i) { return x.slice_rows(i, 1); };
  fmt::print("how much a word's output changes with the order\n");
  fmt::print("                     dog   bites    man   mean of all\n");
  for (const auto& [name, y] :
       {std::pair("fully connected", mixed), std::pair("attention", attended)}) {
    fmt::print("{:<15}  {:7.2f} {:7.2f} {:6.2f} {:13.2f}\n", name,
               most_apart(row(y[0], 0), row(y[1], 2)), most_apart(row(y[0], 1), row(y[1], 1)),
               most_apart(row(y[0], 2), row(y[1], 0)), most_apart(mean(y[0], 0), mean(y[1], 0)));
  }
  const std::vector<std::string> longer{"big", "dog", "bites", "man"};
  fmt::print("a fourth word: attention gives {}, the matrix {} fits no longer\n",
             layer(embedded(longer), Packing::even(1, 4)).shape(), connected.shape());
}

// Prints, numbers within 1 %:
// dog bites man
//  fully connected
//     dog -0.01 -0.54  0.95
//   bites  0.17 -0.93 -0.78
//     man -0.37 -0.80  0.22
//  attention
//     dog  0.55  0.17  0.28
//   bites  0.91  0.07  0.02
//     man  0.06  0.91  0.03
// man bites dog
//  fully connected
//     man -0.01 -0.54  0.95
//   bites  0.17 -0.93 -0.78
//     dog -0.37 -0.80  0.22
//  attention
//     man  0.03  0.91  0.06
//   bites  0.02  0.07  0.91
//     dog  0.28  0.17  0.55
// how much a word's output changes with the order
//                      dog   bites    man   mean of all
// fully connected     4.46    3.74   1.72          0.76
// attention           0.00    0.00   0.00          0.00
// a fourth word: attention gives [4, 8], the matrix [3, 3] fits no longer
