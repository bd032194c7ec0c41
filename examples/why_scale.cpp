// Why scores are divided by the root of the width (Vaswani et al., 2017): the product of two random
// vectors grows with their width, the softmax of large scores is all but hard, and its gradient
// vanishes.
#include <fmt/format.h>

#include <cmath>

#include "attend/attention/attention.h"
#include "attend/attention/recorder.h"
#include "attend/tensor/tape.h"

using namespace attend;

constexpr size_t kQueries = 64, kKeys = 32;

Tensor random(size_t rows, size_t width, uint64_t stream) {
  Tensor x = Tensor::empty({rows, width});
  fill_normal(x.span(), RandomStream(7, stream), 0.0f, 1.0f);
  return x;
}

struct Measured {
  double entropy;   // mean of the rows' entropies, as a part of the largest there could be
  double gradient;  // mean size of the gradient of a score
};

Measured measure(size_t width, Score score) {
  Tensor q = random(kQueries, width, 1), k = random(kKeys, width, 2), v = random(kKeys, width, 3);
  // A bias of zeros is added to each score, so that its gradient is that of the scores.
  Tensor scores = Tensor::zeros({kQueries, kKeys});
  scores.require_grad();
  Recorder recorder;
  recorder.request = {.weights = false, .entropy = true};
  const Tensor y = attention(q, k, v, {.score = score, .bias = scores, .name = "layer"}).output;
  // The loss is a random projection of the output to one number a row.
  backward(y, random(kQueries, width, 4));

  Measured mean{0.0, 0.0};
  for (const float e : recorder.heads[0].entropy.to_vector()) mean.entropy += e;
  for (const float g : scores.grad().to_vector()) mean.gradient += std::abs(g);
  mean.entropy /= kQueries * std::log(kKeys);
  mean.gradient /= kQueries * kKeys * std::sqrt(width);
  return mean;
}

int main() {
  fmt::print("width   entropy q.k  scaled   gradient q.k  scaled\n");
  for (const size_t width : {4, 16, 64, 256, 1024}) {
    const Measured plain = measure(width, Score::kDot), scaled = measure(width, Score::kScaledDot);
    fmt::print("{:5}   {:11.2f}  {:6.2f}   {:12.4f}  {:6.4f}\n", width, plain.entropy,
               scaled.entropy, plain.gradient, scaled.gradient);
  }
}

// Prints:
// width   entropy q.k  scaled   gradient q.k  scaled
//     4          0.68    0.89         0.0249  0.0268
//    16          0.34    0.87         0.0181  0.0259
//    64          0.11    0.86         0.0069  0.0238
//   256          0.06    0.87         0.0031  0.0247
//  1024          0.02    0.87         0.0014  0.0244
