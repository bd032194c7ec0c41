// Local attention: around the query's place, and around a predicted one.
#include "attend/attention/local.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/attention/recorder.h"
#include "tests/attention/modules.h"

namespace attend {
namespace {

LocalAttention make_local(const LocalConfig& config) {
  Rng rng(1);
  LocalAttention layer(config, rng);
  randomize(layer);
  return layer;
}

TEST(LocalMask, IsCentredAtTheQuerysPlace) {
  const Tensor q = Tensor::zeros({2, 1}), k = Tensor::zeros({6, 1});
  const Tensor v = Tensor::of({1, 2, 4, 8, 16, 32}, {6, 1});
  expect_values(attention(q, k, v, {.mask = local_mask(1)}).output, {1.5f, 7.0f / 3}, 1e-5f);
  expect_values(attention(q, k, v, {.mask = local_mask(1, 3)}).output, {28.0f / 3, 56.0f / 3},
                1e-5f);
  expect_values(attention(q, k, v, {.mask = local_mask(SIZE_MAX)}).output, {10.5f, 10.5f}, 1e-5f);
  expect_values(attention(q, k, v, {.mask = local_mask(1, SIZE_MAX)}).output, {0, 0}, 0.0f);
}

LocalAttention::Inputs inputs(size_t key_width) {
  return {random_tensor({5, 4}, 1), random_tensor({14, key_width}, 2), random_tensor({14, 3}, 3),
          Packing::of({3, 0, 2}), Packing::of({9, 1, 4})};
}

// The equations of the paper, one weight at a time.
TEST(Local, WeightsAreThoseOfThePaper) {
  const LocalAttention layer = make_local({.width = 4, .key_width = 5, .hidden = 6, .reach = 2});
  const LocalAttention::Inputs in = inputs(5);
  const Tensor y = layer(in), w = layer.score_weight;
  for (size_t s = 0; s < 3; ++s) {
    for (size_t row = in.queries.begin(s); row < in.queries.end(s); ++row) {
      const float* q = in.q.data() + row * 4;
      double logit = 0.0;
      for (size_t a = 0; a < 6; ++a) {
        double sum = 0.0;
        for (size_t c = 0; c < 4; ++c)
          sum += double{layer.centre.weight.value.data()[a * 4 + c]} * q[c];
        logit += layer.vector.data()[a] * std::tanh(sum);
      }
      const double p = static_cast<double>(in.keys.length(s)) / (1.0 + std::exp(-logit));
      std::vector<double> expected(3, 0.0);
      double total = 0.0;
      for (size_t j = 0; j < in.keys.length(s); ++j) {
        const double away = static_cast<double>(j) - p;
        if (std::abs(away) > 2.0) continue;
        const float* k = in.k.data() + (in.keys.begin(s) + j) * 5;
        double score = 0.0;
        for (size_t a = 0; a < 5; ++a) {
          for (size_t c = 0; c < 4; ++c) score += double{k[a]} * w.data()[a * 4 + c] * q[c];
        }
        total += std::exp(score);
        for (size_t c = 0; c < 3; ++c) {  // sigma is 2 / 2
          expected[c] += std::exp(score - away * away / 2.0) *
                         double{in.v.data()[(in.keys.begin(s) + j) * 3 + c]};
        }
      }
      for (size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(y.data()[row * 3 + c], expected[c] / total, 1e-5);
      }
    }
  }
}

// The centre learns through the bell alone, so its gradient says that the bell is on the tape.
TEST(Local, GradientsReachAllParameters) {
  const std::pair<Score, size_t> known[] = {{Score::kDot, 2},      {Score::kGeneral, 3},
                                            {Score::kAdditive, 5}, {Score::kConcat, 4},
                                            {Score::kCosine, 2},   {Score::kDistance, 2}};
  for (const auto& [score, count] : known) {
    SCOPED_TRACE(name_of(score));
    LocalAttention layer = make_local({.width = 4, .reach = 9, .score = score});
    LocalAttention::Inputs in = inputs(4);
    expect_gradients(layer, in.q, [&] { return layer(in); });
    EXPECT_EQ(parameters(layer).size(), count);
  }
}

TEST(Local, NoSequencesHaveGradients) {
  const LocalAttention layer = make_local({.width = 4});
  const Tensor none = Tensor::empty({0, 4});
  const Tensor y = layer({none, none, none, Packing(), Packing()});
  EXPECT_EQ(y.shape(), (Shape{0, 4}));
  backward(y, none);
}

TEST(Local, NoKeysGiveZeros) {
  const LocalAttention layer = make_local({.width = 4});
  const LocalAttention::Inputs in{random_tensor({3, 4}, 1), random_tensor({2, 4}, 2),
                                  random_tensor({2, 3}, 3), Packing::of({2, 1}),
                                  Packing::of({0, 2})};
  const Tensor y = layer(in);
  ASSERT_EQ(y.shape(), (Shape{3, 3}));
  expect_values(y.slice_rows(0, 2), std::vector<float>(6, 0.0f), 0.0f);
  EXPECT_EQ(
      layer({Tensor::zeros({0, 4}), Tensor::zeros({0, 4}), Tensor::zeros({0, 3}), {}, {}}).shape(),
      (Shape{0, 3}));
}

// What a key and its value hold beyond the reach of every query has no part in anything.
TEST(Local, BadValuesOutsideTheWindowDoNotLeak) {
  for (const Score score : {Score::kDot, Score::kGeneral}) {
    LocalAttention layer = make_local({.width = 4, .reach = 1, .score = score});
    Tensor q = random_tensor({2, 4}, 1), k = random_tensor({9, 4}, 2), v = random_tensor({9, 3}, 3);
    const Packing queries = Packing::of({2}), keys = Packing::of({9});
    const auto run = [&] {
      const Tensor y = layer({q, k, v, queries, keys});
      backward(y, random_tensor({2, 3}, 4));
      std::vector<float> values = y.to_vector();
      for (Tensor* x : {&q, &k, &v, &layer.vector, &layer.centre.weight.value}) {
        const std::vector<float> gradient = x->grad().to_vector();
        values.insert(values.end(), gradient.begin(), gradient.end());
        x->clear_grad();
      }
      return values;
    };
    for (Tensor* x : {&q, &k, &v}) x->require_grad();
    const std::vector<float> clean = run();
    const Tensor p = layer.centres(q, queries, keys);
    size_t spoiled = 0;
    for (size_t j = 0; j < 9; ++j) {
      const auto place = static_cast<float>(j);
      if (std::abs(place - p.data()[0]) <= 1.0f || std::abs(place - p.data()[1]) <= 1.0f) continue;
      std::fill_n(k.data() + j * 4, 4, std::numeric_limits<float>::quiet_NaN());
      std::fill_n(v.data() + j * 3, 3, std::numeric_limits<float>::infinity());
      ++spoiled;
    }
    ASSERT_GE(spoiled, 4u);
    const std::vector<float> values = run();
    for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], clean[i], 1e-5f) << i;
  }
}

TEST(Local, CanBeSeen) {
  LocalAttention layer = make_local({.width = 4, .reach = 1});
  layer.name = "local";
  const LocalAttention::Inputs in = inputs(4);
  const Tensor p = layer.centres(in.q, in.queries, in.keys);
  Recorder recorder;
  layer(in);
  ASSERT_EQ(recorder.heads.size(), 3u);
  const Tensor& weights = recorder.heads[0].weights;
  ASSERT_EQ(weights.shape(), (Shape{3, 9}));
  for (size_t i = 0; i < 27; ++i) {
    const float away = static_cast<float>(i % 9) - p.data()[i / 9];
    EXPECT_EQ(weights.data()[i] > 0.0f, std::abs(away) <= 1.0f) << i;
  }
  LocalAttention::Inputs later = in;
  later.earlier = {4, 0, 7};
  layer(later);
  EXPECT_EQ(recorder.heads.back().first_query, 7u);
}

TEST(Local, ErrorsNameTheValuesAndTheRemedy) {
  expect_error<ConfigError>([] { make_local({.width = 4, .reach = 0}); }, "width 4 and reach 0");
  expect_error<ConfigError>([] { make_local({.width = 4, .score = Score::kLocation}); },
                            "score location does not read keys");
  expect_error<ConfigError>([] { make_local({.width = 4, .score = Score::kLocation}); },
                            "use dot, scaled_dot, general, additive, concat, cosine, distance");
  expect_error<ConfigError>([] { make_local({.width = 4, .key_width = 5, .score = Score::kDot}); },
                            "queries of width 4 with keys of width 5; use general");
  expect_error<ShapeError>([] { make_local({.width = 4})(inputs(5)); }, "keys [14, 5]");
}

}  // namespace
}  // namespace attend
