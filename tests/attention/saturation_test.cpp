// Gradients where sigmoids and hyperbolic tangents are saturated: small, but as precise as others.
#include <gtest/gtest.h>

#include <cmath>

#include "attend/attention/alignment.h"
#include "attend/attention/attention.h"
#include "attend/attention/recall.h"
#include "attend/tensor/tape.h"
#include "tests/attention/values.h"
#include "tests/kernels/targets.h"

namespace attend {
namespace {

using kernels::for_each_target;

// Derivatives in double; 1 - tanh^2 and s (1 - s) would cancel there as well.
double sigmoid_slope(double x) {
  const double e = std::exp(-std::abs(x));
  return e / ((1 + e) * (1 + e));
}
double tanh_slope(double x) { return 4 * sigmoid_slope(2 * x); }

// Both signs, from 0 on.
Tensor points(float most, size_t count) {
  Tensor x = Tensor::empty({count, 1});
  for (size_t i = 0; i < count; ++i) {
    const float size = most * static_cast<float>(i / 2) / static_cast<float>(count / 2 - 1);
    x.data()[i] = i % 2 == 0 ? size : -size;
  }
  return x;
}

template <typename Exact>
void expect_slopes(const Tensor& actual, const Tensor& x, const Exact& exact) {
  ASSERT_TRUE(actual.defined());
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(x.data()[i]);
    ASSERT_NEAR(actual.data()[i], expected, 1e-5 * std::abs(expected)) << "at " << x.data()[i];
  }
}

// One query of 1 whose scores are the keys, and whose values and gradient are 1: the gradient of a
// key is the slope of its weight.
Tensor key_gradients(const Tensor& x, AttentionOptions options) {
  Tensor k = Tensor::of(x.span(), x.shape());
  k.require_grad();
  options.score = options.score_weights.vector.defined() ? Score::kAdditive : Score::kDot;
  const Tensor q = Tensor::full({1, 1}, options.score == Score::kDot ? 1.0f : 0.0f);
  backward(attention(q, k, Tensor::full(x.shape(), 1.0f), options).output);
  return k.grad();
}

TEST(Saturation, SlopesOfWeightsKeepTheirPrecision) {
  const Tensor x = points(80.0f, 402);
  for_each_target([&] {
    for (const bool plain : {false, true}) {
      expect_slopes(key_gradients(x, {.weighting = Weighting::kSigmoid, .plain = plain}), x,
                    sigmoid_slope);
    }
  });
}

TEST(Saturation, SlopesOfCappedScoresKeepTheirPrecision) {
  for_each_target([&] {
    for (const float cap : {0.5f, 2.0f, 8.0f}) {
      const Tensor x = points(40.0f * cap, 402);
      const auto slope = [cap](double s) {
        return tanh_slope(s / cap) * sigmoid_slope(cap * std::tanh(s / cap));
      };
      for (const bool plain : {false, true}) {
        SCOPED_TRACE(plain);
        const AttentionOptions options{
            .softcap = cap, .weighting = Weighting::kSigmoid, .plain = plain};
        expect_slopes(key_gradients(x, options), x, slope);
      }
    }
  });
}

// With few keys the fused path keeps tangents, with many it makes them again.
TEST(Saturation, SlopesOfAdditiveScoresKeepTheirPrecision) {
  const auto slope = [](double x) { return tanh_slope(x) * sigmoid_slope(std::tanh(x)); };
  for_each_target([&] {
    for (const bool plain : {false, true}) {
      AttentionOptions options{.weighting = Weighting::kSigmoid, .plain = plain};
      options.score_weights.vector = Tensor::full({1}, 1.0f);
      const Tensor x = points(40.0f, 302);
      expect_slopes(key_gradients(x, options), x, slope);
    }
    // Wide enough not to be kept: all columns but the first stay at 0.
    const size_t width = 700;
    Tensor k = Tensor::zeros({128, width}), q = Tensor::zeros({1, width});
    const Tensor x = points(40.0f, 128);
    for (size_t i = 0; i < x.size(); ++i) k.data()[i * width] = x.data()[i];
    k.require_grad();
    AttentionOptions options{.score = Score::kAdditive, .weighting = Weighting::kSigmoid};
    options.score_weights.vector = Tensor::full({width}, 1.0f);
    const Tensor y = attention(q, k, Tensor::full({128, 1}, 1.0f), options).output;
    backward(y);
    const Tensor first = Tensor::empty({128, 1});
    for (size_t i = 0; i < x.size(); ++i) first.data()[i] = k.grad().data()[i * width];
    expect_slopes(first, x, slope);
  });
}

// A query that nearly stops at each key: what passes, and what reaches the last key, is tiny.
TEST(Saturation, MonotonicAttentionKeepsWhatPasses) {
  for (const float score : {5.0f, 10.0f, 20.0f, 30.0f}) {
    Tensor scores = Tensor::full({1, 2}, score);
    scores.require_grad();
    const Tensor weights = weigh(scores, {.weighting = Weighting::kMonotonic}).weights;
    const double stops = 1 / (1 + std::exp(-double{score})), passes = std::exp(-score) * stops;
    EXPECT_NEAR(weights.data()[1], stops * passes, 1e-6 * passes) << score;
    backward(weights, Tensor::of({0, 1}, {1, 2}));
    const double slope = stops * passes;
    EXPECT_NEAR(scores.grad().data()[0], -stops * slope, 1e-6 * slope) << score;
    EXPECT_NEAR(scores.grad().data()[1], passes * slope, 1e-6 * passes * slope) << score;
  }
}

TEST(Saturation, AlignmentScoresKeepTheirPrecision) {
  const Tensor x = points(40.0f, 202);
  for_each_target([&] {
    Tensor k = Tensor::of(x.span(), x.shape());
    k.require_grad();
    const Alignment at(Packing::even(1, x.size()));
    const Tensor scores =
        alignment_scores(at, {Tensor::zeros({1, 1}), k, Tensor::full({1}, 1.0f),
                              Tensor::zeros({1, 1}), Tensor::zeros({x.size(), 1})});
    backward(scores, Tensor::full({x.size()}, 1.0f));
    expect_slopes(k.grad(), x, tanh_slope);
  });
}

// Two steps, the first one with a saturated key: the gradient of a score is w1 w2 (h1 - h2).
TEST(Saturation, RecallKeepsItsPrecision) {
  for_each_target([&] {
    for (const float at : {0.5f, 3.0f, 9.0f, 15.0f, 30.0f}) {
      Tensor key = Tensor::full({1, 1}, at);
      key.require_grad();
      const Tensor one = Tensor::full({1, 1}, 1.0f), zero = Tensor::zeros({1, 1});
      const Recalled recalled =
          recall(zero, Tensor::full({1}, 1.0f), {{key, one, zero}, {zero, zero, zero}});
      backward(recalled.mixture, Tensor::of({1, 0}, {1, 2}));
      const double expected = sigmoid_slope(std::tanh(at)) * tanh_slope(at);
      EXPECT_NEAR(key.grad().item(), expected, 1e-5 * expected) << at;
    }
  });
}

}  // namespace
}  // namespace attend
