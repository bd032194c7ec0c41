// What scores and weightings say of themselves, against what they do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/attention/attention.h"
#include "attend/attention/rotary.h"
#include "attend/nn/visit.h"
#include "attend/ops/linear.h"
#include "attend/tensor/tape.h"
#include "tests/attention/points.h"

namespace attend {
namespace {

const Sizes kSizes{{4}, {4}, 2, 2, 4, 3};

float farthest(const std::vector<float>& a, const std::vector<float>& b) {
  float most = 0.0f;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

bool any(const std::vector<float>& values) {
  return std::ranges::any_of(values, [](float x) { return x != 0.0f; });
}

TEST(ScoreTraits, LearnedOnesHaveWeightsAndOthersHaveNone) {
  Rng rng(1);
  for (const Score score : all_scores()) {
    const ScoreWeights made = make_score_weights(score,
                                                 {.query_width = 8,
                                                  .key_width = 8,
                                                  .heads = 2,
                                                  .kv_heads = 2,
                                                  .hidden = 4,
                                                  .longest_keys = 5},
                                                 rng);
    EXPECT_EQ(made.query.defined() || made.key.defined() || made.vector.defined(),
              traits_of(score).learned)
        << name_of(score);
  }
}

// Weights that were made for some sizes work there, projected or not.
TEST(ScoreTraits, FreshWeightsFitTheOp) {
  Rng rng(1);
  for (const Score score : all_scores()) {
    for (const bool projected : {false, true}) {
      for (const size_t kv_heads : {2, 1}) {
        if (kv_heads == 1 && !traits_of(score).grouped) continue;
        AttentionOptions options{.heads = 2, .kv_heads = kv_heads, .score = score};
        options.score_weights = make_score_weights(score,
                                                   {.query_width = 8,
                                                    .key_width = 4 * kv_heads,
                                                    .heads = 2,
                                                    .kv_heads = kv_heads,
                                                    .hidden = 4,
                                                    .longest_keys = 5,
                                                    .projected = projected},
                                                   rng);
        const Tensor q = random_tensor({3, 8}, 1), k = random_tensor({5, 4 * kv_heads}, 2);
        EXPECT_EQ(attention(q, k, k, options).output.shape(), (Shape{3, 8})) << name_of(score);
      }
    }
  }
}

// A decoder projects its keys once: what is left of a score then gives the same.
TEST(ScoreTraits, RowsCanBeProjectedBeforehand) {
  Rng rng(1);
  const Tensor q = random_tensor({3, 6}, 1), k = random_tensor({5, 6}, 2);
  for (const Score score : all_scores()) {
    const ScoreWeights weights = make_score_weights(
        score, {.query_width = 6, .key_width = 6, .hidden = 4, .longest_keys = 5}, rng);
    const ProjectedScore left = projected_score(score, weights, 6);
    const auto rows = [](const Tensor& x, const Tensor& weight) {
      return weight.defined() ? linear(x, weight) : x;
    };
    const Tensor whole = attention(q, k, k, {.score = score, .score_weights = weights}).output;
    const Tensor parts = attention(rows(q, left.query), rows(k, left.key), k,
                                   {.score = left.score, .score_weights = left.weights})
                             .output;
    EXPECT_LT(farthest(whole.to_vector(), parts.to_vector()), 1e-5f) << name_of(score);
  }
}

TEST(ScoreTraits, FusedAndReadKeysAreWhatTheOpDoes) {
  for (const Score score : all_scores()) {
    const Point point = make_point(kSizes, score, Weighting::kSoftmax);
    const Outcome before = run(point, false);
    EXPECT_EQ(before.attended.path == AttentionPath::kFused, traits_of(score).fused)
        << name_of(score);
    for (float& value : point.call.k.span()) value = -0.5f * value + 0.3f;
    const Outcome after = run(point, false);
    EXPECT_EQ(farthest(before.values[0], after.values[0]) > 1e-4f, traits_of(score).reads_keys)
        << name_of(score);
    EXPECT_EQ(any(before.values[1]), traits_of(score).differentiable) << name_of(score);
  }
}

// Turned by positions, and by positions moved on: the same only where differences count.
TEST(ScoreTraits, RotaryOnesDependOnDifferencesOfPositions) {
  for (const Score score : all_scores()) {
    const Point point = make_point(kSizes, score, Weighting::kSoftmax);
    const auto output = [&](int32_t first) {
      std::vector<int32_t> positions(4);
      std::iota(positions.begin(), positions.end(), first);
      return attention(rotate(point.call.q, positions, 2), rotate(point.call.k, positions, 2),
                       point.call.v, point.call.options)
          .output.to_vector();
    };
    EXPECT_EQ(farthest(output(0), output(7)) < 1e-4f, traits_of(score).rotary) << name_of(score);
  }
}

TEST(ScoreTraits, ProductsTakeShawsVectors) {
  for (const Score score : all_scores()) {
    Point point = make_point(kSizes, score, Weighting::kSoftmax);
    point.call.options.shaw.keys = random_tensor({3, 4}, 5);
    const std::string message = message_of<ConfigError>([&] { run(point, true); });
    EXPECT_EQ(message == "no error", traits_of(score).product) << name_of(score) << message;
  }
}

TEST(WeightingTraits, AreWhatTheWeightingsDo) {
  const Tensor scores = random_tensor({4, 5}, 3, 1.5f);
  for (size_t i = 5; i < 10; ++i) scores.data()[i] = -std::abs(scores.data()[i]);  // stops nowhere
  for (const Weighting weighting : all_weightings()) {
    const WeightingTraits& traits = traits_of(weighting);
    SCOPED_TRACE(name_of(weighting));
    Tensor x = Tensor::of(scores.to_vector(), {4, 5});
    x.require_grad();
    const Tensor weights = weigh(x, {.weighting = weighting, .top_k = 3}).weights;
    EXPECT_EQ(weights.needs_grad(), traits.differentiable);
    bool normalized = true;
    for (size_t i = 0; i < 4; ++i) {
      const float* row = weights.data() + i * 5;
      normalized &= std::abs(std::accumulate(row, row + 5, 0.0f) - 1.0f) < 1e-5f;
    }
    EXPECT_EQ(normalized, traits.normalized);
    // The last row by itself.
    const auto last = [&](std::vector<float> row) {
      return weigh(Tensor::of(row, {1, 5}), {.weighting = weighting, .top_k = 3, .first_row = 3})
          .weights.to_vector();
    };
    std::vector<float> row(scores.data() + 15, scores.data() + 20);
    const bool alone = farthest(last(row), weights.slice_rows(3, 1).to_vector()) < 1e-6f;
    EXPECT_EQ(alone, !traits.ordered_keys);
    const Point point = make_point(kSizes, Score::kScaledDot, weighting);
    EXPECT_EQ(run(point, false).attended.path == AttentionPath::kFused, traits.fused.has_value());
    EXPECT_EQ(run(point, false).attended.log_probability.defined(), traits.sampled);
    AttentionOptions options = point.call.options;
    options.sinks = Tensor::zeros({2});
    const std::string message = message_of<ConfigError>(
        [&] { attention(point.call.q, point.call.k, point.call.v, options); });
    EXPECT_EQ(message == "no error", traits.sinks) << message;
  }
}

TEST(Traits, ListsNameWhatSatisfiesThem) {
  EXPECT_EQ(scores_where(&ScoreTraits::product), "dot, scaled_dot, general");
  EXPECT_EQ(scores_where([](const ScoreTraits& t) { return !t.learned; }),
            "dot, scaled_dot, cosine, distance");
  EXPECT_EQ(scores_where([](const ScoreTraits&) { return false; }), "");
  EXPECT_EQ(weightings_where([](const WeightingTraits& t) { return t.fused.has_value(); }),
            "softmax, sigmoid, relu");
  EXPECT_EQ(weightings_where(
                [](const WeightingTraits& t) { return t.differentiable && !t.ordered_keys; }),
            "softmax, sigmoid, relu, identity, sparsemax, entmax15, top_k, straight_through");
  expect_error<ConfigError>([] { traits_of(static_cast<Score>(99)); }, "there is no score 99");
  expect_error<ConfigError>([] { traits_of(static_cast<Weighting>(99)); },
                            "there is no weighting 99");
}

}  // namespace
}  // namespace attend
