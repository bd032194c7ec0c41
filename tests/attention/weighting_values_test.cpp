// What is known of single weightings: values, closed forms, chances.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "attend/attention/weightings.h"
#include "attend/tensor/tape.h"
#include "tests/special_values.h"

namespace attend {
namespace {

constexpr float kMasked = -kInf;

std::vector<float> weights_of(Weighting weighting, const Tensor& scores, size_t top_k = 8) {
  return weigh(scores, {.weighting = weighting, .top_k = top_k}).weights.to_vector();
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected,
                 float tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << i;
}

const Weighting kDistributions[] = {
    Weighting::kSoftmax,    Weighting::kSparsemax,  Weighting::kEntmax15,        Weighting::kTopK,
    Weighting::kHardArgmax, Weighting::kHardSample, Weighting::kStraightThrough,
};

TEST(WeightingValues, RowsSumToOne) {
  for (const float range : {0.001f, 1.0f, 30.0f, 1e6f}) {
    Tensor scores = Tensor::empty({50, 129});
    fill_uniform(scores.span(), RandomStream(31, 0), -range, range);
    for (const Weighting weighting : kDistributions) {
      const std::vector<float> weights = weights_of(weighting, scores);
      for (size_t i = 0; i < 50; ++i) {
        const double sum =
            std::accumulate(weights.begin() + static_cast<ptrdiff_t>(i * 129),
                            weights.begin() + static_cast<ptrdiff_t>(i * 129 + 129), 0.0);
        EXPECT_NEAR(sum, 1.0, 2e-6) << name_of(weighting) << " within " << range;
      }
    }
  }
}

TEST(WeightingValues, DoNotChangeWhenARowIsShifted) {
  const Tensor scores = Tensor::of({0.25f, -0.5f, 1.125f, 0.875f, -2, 0.5f}, {1, 6});
  for (const float shift : {1024.0f, -1024.0f}) {  // the sums are exact
    const Tensor shifted = Tensor::like(scores);
    for (size_t j = 0; j < 6; ++j) shifted.data()[j] = scores.data()[j] + shift;
    for (const Weighting weighting : kDistributions) {
      EXPECT_EQ(weights_of(weighting, scores, 3), weights_of(weighting, shifted, 3))
          << name_of(weighting) << " by " << shift;
    }
  }
}

// From the tests of the entmax package.
TEST(WeightingValues, SparsemaxAndEntmaxOfThreeScores) {
  const Tensor scores = Tensor::of({-2, 0, 0.5f}, {1, 3});
  EXPECT_EQ(weights_of(Weighting::kSparsemax, scores), (std::vector<float>{0, 0.25f, 0.75f}));
  const std::vector<float> entmax = weights_of(Weighting::kEntmax15, scores);
  EXPECT_EQ(entmax[0], 0.0f);
  expect_near(entmax, {0, 0.326f, 0.674f}, 5e-4f);
}

TEST(WeightingValues, SparsemaxOfTwoScores) {
  for (float s = -3; s <= 3; s += 0.125f) {
    const float first = std::clamp((1 + s) / 2, 0.0f, 1.0f);
    expect_near(weights_of(Weighting::kSparsemax, Tensor::of({s, 0}, {1, 2})), {first, 1 - first},
                1e-7f);
  }
}

// u^2 + (u - s/2)^2 = 1, while the smaller score gets a weight: s < 2.
TEST(WeightingValues, EntmaxOfTwoScores) {
  for (float s = 0; s <= 4; s += 0.125f) {
    const float half = s / 2, u = s < 2 ? (half + std::sqrt(2 - half * half)) / 2 : 1.0f;
    const std::vector<float> expected{u * u, 1 - u * u};
    expect_near(weights_of(Weighting::kEntmax15, Tensor::of({s, 0}, {1, 2})), expected, 3e-7f);
  }
}

// Its scores are too far apart for any threshold to give all of them weights that sum to one.
TEST(WeightingValues, EntmaxLeavesOutAScoreFarBelow) {
  std::vector<float> scores(101, -0.98f);
  std::fill_n(scores.begin(), 4, 0.0f);
  scores.back() = -1.98f;
  const std::vector<float> weights = weights_of(Weighting::kEntmax15, Tensor::of(scores, {1, 101}));
  EXPECT_EQ(weights.back(), 0.0f);
  scores.pop_back();
  std::vector<float> expected = weights_of(Weighting::kEntmax15, Tensor::of(scores, {1, 100}));
  EXPECT_GT(expected.back(), 0.0f);
  expected.push_back(0.0f);
  EXPECT_EQ(weights, expected);
}

TEST(WeightingValues, EqualScoresShareEqually) {
  const Tensor scores = Tensor::full({1, 1000}, 7.0f);
  for (const Weighting weighting :
       {Weighting::kSoftmax, Weighting::kSparsemax, Weighting::kEntmax15}) {
    expect_near(weights_of(weighting, scores), std::vector<float>(1000, 0.001f), 1e-9f);
  }
}

TEST(WeightingValues, TopKTakesTheFirstOfEquals) {
  const Tensor scores = Tensor::of({1, 2, 1, 2, 1, 1}, {1, 6});
  const float e = std::exp(-1.0f);
  const auto one = 1 / (2 + 2 * e);
  expect_near(weights_of(Weighting::kTopK, scores, 4), {e * one, one, e * one, one, 0, 0}, 1e-7f);
  EXPECT_EQ(weights_of(Weighting::kTopK, scores, 1), (std::vector<float>{0, 1, 0, 0, 0, 0}));
}

TEST(WeightingValues, TopKOfAllIsSoftmax) {
  Tensor scores = Tensor::empty({4, 9});
  fill_uniform(scores.span(), RandomStream(32, 0), -2.0f, 2.0f);
  scores.data()[3] = kMasked;
  for (const size_t k : {9, 10, 1000}) {
    EXPECT_EQ(weights_of(Weighting::kTopK, scores, k), weights_of(Weighting::kSoftmax, scores));
  }
}

TEST(WeightingValues, HardArgmaxTakesTheFirstOfEquals) {
  const Tensor scores = Tensor::of({kMasked, 0, 3, 3, 1}, {1, 5});
  EXPECT_EQ(weights_of(Weighting::kHardArgmax, scores), (std::vector<float>{0, 0, 1, 0, 0}));
  EXPECT_EQ(weights_of(Weighting::kStraightThrough, scores), (std::vector<float>{0, 0, 1, 0, 0}));
}

// Raffel et al., 2017, section 2.4, by hand.
TEST(WeightingValues, MonotonicWhenEveryStopIsATossOfACoin) {
  EXPECT_EQ(weights_of(Weighting::kMonotonic, Tensor::zeros({2, 3})),
            (std::vector<float>{0.5f, 0.25f, 0.125f, 0.25f, 0.25f, 0.1875f}));
}

TEST(WeightingValues, MonotonicIsStableWhereStopsAreCertain) {
  const Tensor scores = Tensor::full({3, 50}, 100.0f).require_grad();
  std::fill_n(scores.data() + 50, 20, -100.0f);
  const Tensor weights = weigh(scores, {.weighting = Weighting::kMonotonic}).weights;
  std::vector<float> expected(150, 0.0f);
  expected[0] = expected[50 + 20] = expected[100 + 20] = 1.0f;
  expect_near(weights.to_vector(), expected, 1e-30f);
  backward(weights, Tensor::full({3, 50}, 1.0f));
  expect_near(scores.grad().to_vector(), std::vector<float>(150, 0.0f), 1e-30f);
}

TEST(WeightingValues, MonotonicHardGoesOnFromTheLastKey) {
  const Tensor scores = Tensor::of({-1, 2,       3,  1,   //
                                    5,  1,       9,  9,   // stays: key 0 is behind
                                    5,  kMasked, -1, 1,   //
                                    9,  9,       9,  -1,  // runs past the end
                                    9,  9,       9,  9},
                                   {5, 4});
  EXPECT_EQ(weights_of(Weighting::kMonotonicHard, scores), (std::vector<float>{0, 1, 0, 0,  //
                                                                               0, 1, 0, 0,  //
                                                                               0, 0, 0, 1,  //
                                                                               0, 0, 0, 0,  //
                                                                               0, 0, 0, 0}));
}

constexpr size_t kDraws = 40000;
constexpr double kLogits[] = {0.3, -1.0, 1.2, 0.0};

Tensor repeated_logits() {
  Tensor scores = Tensor::empty({kDraws, 5});
  for (size_t i = 0; i < kDraws; ++i) {
    for (size_t j = 0; j < 4; ++j) scores.data()[5 * i + j] = static_cast<float>(kLogits[j]);
    scores.data()[5 * i + 4] = kMasked;
  }
  return scores.require_grad();
}

std::vector<double> logit_chances() {
  std::vector<double> p;
  for (const double logit : kLogits) p.push_back(std::exp(logit));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& chance : p) chance /= sum;
  return p;
}

TEST(WeightingValues, SamplesFollowTheSoftmax) {
  const Weighted drawn = weigh(repeated_logits(), {.weighting = Weighting::kHardSample});
  const std::vector<double> p = logit_chances();
  std::vector<size_t> counts(5, 0);
  for (size_t i = 0; i < kDraws; ++i) {
    for (size_t j = 0; j < 5; ++j) {
      if (drawn.weights.data()[5 * i + j] == 0) continue;
      ++counts[j];
      EXPECT_NEAR(drawn.log_probability.data()[i], std::log(p[j]), 1e-5);
    }
  }
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), size_t{0}), kDraws);
  EXPECT_EQ(counts[4], 0u);
  for (size_t j = 0; j < 4; ++j) {
    const double deviation = std::sqrt(p[j] * (1 - p[j]) / kDraws);
    EXPECT_NEAR(static_cast<double>(counts[j]) / kDraws, p[j], 4 * deviation);
  }
}

TEST(WeightingValues, ADrawDependsOnItsPlaceAlone) {
  const Tensor scores = repeated_logits().detach().slice_rows(0, 100);
  const auto draw = [&](size_t begin, size_t count) {
    return weigh(scores.slice_rows(begin, count),
                 {.weighting = Weighting::kHardSample, .first_row = 1000 + begin})
        .weights.to_vector();
  };
  std::vector<float> parts = draw(0, 37);
  const std::vector<float> rest = draw(37, 63);
  parts.insert(parts.end(), rest.begin(), rest.end());
  EXPECT_EQ(parts, draw(0, 100));
  EXPECT_NE(draw(0, 50), draw(50, 50));
}

// REINFORCE: the mean of reward times the gradient of the log-probability is the gradient of the
// expected reward, sum_c p_c r_c, which is p_j (r_j - sum_c p_c r_c).
TEST(WeightingValues, LogProbabilityGivesTheGradientOfTheExpectedReward) {
  const double rewards[] = {1.0, -2.0, 0.5, 3.0};
  const std::vector<double> p = logit_chances();
  const Tensor scores = repeated_logits();
  const Weighted drawn = weigh(scores, {.weighting = Weighting::kHardSample});
  Tensor reward = Tensor::zeros({kDraws});
  for (size_t i = 0; i < kDraws; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      reward.data()[i] += drawn.weights.data()[5 * i + j] * static_cast<float>(rewards[j]);
    }
  }
  backward(drawn.log_probability, reward);
  for (size_t j = 0; j < 5; ++j) {
    double mean = 0;
    for (size_t i = 0; i < kDraws; ++i) mean += scores.grad().data()[5 * i + j] / kDraws;
    if (j == 4) {
      EXPECT_EQ(mean, 0.0);
      continue;
    }
    double expected = 0, square = 0;
    for (size_t c = 0; c < 4; ++c) {
      const double term = rewards[c] * ((c == j ? 1 : 0) - p[j]);
      expected += p[c] * term;
      square += p[c] * term * term;
    }
    EXPECT_NEAR(expected,
                p[j] * (rewards[j] - std::inner_product(p.begin(), p.end(), rewards, 0.0)), 1e-12);
    EXPECT_NEAR(mean, expected, 4 * std::sqrt((square - expected * expected) / kDraws)) << j;
  }
}

}  // namespace
}  // namespace attend
