// Lesson 2: what one step of a decoder gets from the source, computed by hand and by the library;
// what happens when the source is shuffled; and who asks whom.
#include <fmt/format.h>

#include <cmath>

#include "attend/attention/attention.h"
#include "attend/nn/init.h"
#include "attend/ops/embedding.h"

using namespace attend;

constexpr size_t kSteps = 3, kWords = 5, kWidth = 8, kHidden = 16;

// v.tanh(W s + U h)
double additive_score(const float* s, const float* h, const ScoreWeights& weights) {
  double score = 0;
  for (size_t i = 0; i < kHidden; ++i) {
    double sum = 0;
    for (size_t j = 0; j < kWidth; ++j) {
      sum +=
          weights.query.data()[i * kWidth + j] * s[j] + weights.key.data()[i * kWidth + j] * h[j];
    }
    score += weights.vector.data()[i] * std::tanh(sum);
  }
  return score;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double{a.span()[i]} - double{b.span()[i]}));
  }
  return largest;
}
const char* same(const Tensor& a, const Tensor& b) {
  return largest_difference(a, b) < 1e-6 ? "the same" : "different";
}

int main() {
  Rng rng(1);
  const Tensor s = parameter({kSteps, kWidth}, Init::kNormal, rng);  // states of the decoder
  const Tensor h = parameter({kWords, kWidth}, Init::kNormal, rng);  // annotations of the source
  const ScoreWeights weights = make_score_weights(
      Score::kAdditive, {.query_width = kWidth, .key_width = kWidth, .hidden = kHidden}, rng);

  for (float& v : weights.vector.span()) v *= 4;  // sharper than at the start of training

  const Tensor by_hand = Tensor::zeros({kSteps, kWidth});
  for (size_t t = 0; t < kSteps; ++t) {
    double a[kWords], sum = 0;
    for (size_t j = 0; j < kWords; ++j) {
      a[j] = std::exp(additive_score(s.data() + t * kWidth, h.data() + j * kWidth, weights));
      sum += a[j];
    }
    fmt::print("step {}, weights", t + 1);
    for (size_t j = 0; j < kWords; ++j) {
      a[j] /= sum;
      fmt::print("  {:.2f}", a[j]);
      for (size_t i = 0; i < kWidth; ++i) {
        by_hand.data()[t * kWidth + i] += static_cast<float>(a[j]) * h.data()[j * kWidth + i];
      }
    }
    fmt::print("\n");
  }
  const AttentionOptions options{.score = Score::kAdditive, .score_weights = weights};
  const Tensor c = attention(s, h, h, options).output;
  fmt::print("contexts by hand and by the library: {}\n", same(by_hand, c));

  const Tensor order = Tensor::ids({3, 0, 4, 2, 1});
  const Tensor shuffled = gather_rows(h, order);
  fmt::print("with the source shuffled: {}\n",
             same(attention(s, shuffled, shuffled, options).output, c));
  fmt::print("with keys shuffled but not values: {}\n",
             same(attention(s, shuffled, h, options).output, c));
  const ScoreWeights places = make_score_weights(
      Score::kLocation, {.query_width = kWidth, .key_width = kWidth, .longest_keys = kWords}, rng);
  const AttentionOptions location{.score = Score::kLocation, .score_weights = places};
  fmt::print(
      "a location score with the source shuffled: {}\n",
      same(attention(s, h, h, location).output, attention(s, shuffled, shuffled, location).output));

  fmt::print("queries from the decoder: {} contexts for {} steps\n", c.rows(), kSteps);
  fmt::print("queries from the encoder: {} contexts for {} steps\n",
             attention(h, s, s, options).output.rows(), kSteps);
}

// Prints, numbers within 5 %:
// step 1, weights  0.37  0.42  0.06  0.13  0.03
// step 2, weights  0.29  0.47  0.06  0.14  0.04
// step 3, weights  0.21  0.63  0.04  0.11  0.02
// contexts by hand and by the library: the same
// with the source shuffled: the same
// with keys shuffled but not values: different
// a location score with the source shuffled: different
// queries from the decoder: 3 contexts for 3 steps
// queries from the encoder: 5 contexts for 3 steps
