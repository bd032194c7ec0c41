// What holds for every weighting: all tests here walk the registry.
#include "attend/attention/weightings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attend/base/parallel.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/names.h"
#include "tests/ops/op_case.h"
#include "tests/plain/weightings.h"
#include "tests/special_values.h"

namespace attend {
namespace {

using plain::Plain;

constexpr float kMaskedScore = -kInf;

WeightingOptions options_of(Weighting weighting) {
  return {.weighting = weighting, .top_k = 3, .random = RandomStream(5, 1), .first_row = 2};
}

// The weighting whose derivative the gradient is.
WeightingOptions smooth_twin(WeightingOptions options) {
  if (options.weighting == Weighting::kStraightThrough) options.weighting = Weighting::kSoftmax;
  return options;
}

bool has_gradient(Weighting weighting) {
  return weighting != Weighting::kHardArgmax && weighting != Weighting::kHardSample &&
         weighting != Weighting::kMonotonicHard;
}

// Whether the weights move with the scores.
bool is_smooth(Weighting weighting) {
  return has_gradient(weighting) && weighting != Weighting::kStraightThrough;
}

std::vector<OpCase> cases() {
  const std::vector<std::vector<Shape>> shapes = {{{5, 7}}, {{1, 1}}, {{0, 4}}, {{4, 33}}};
  std::vector<OpCase> all;
  for (const Weighting weighting : all_weightings()) {
    if (!is_smooth(weighting)) continue;
    const WeightingOptions options = options_of(weighting);
    std::string name = "Weigh" + std::string(name_of(weighting));
    std::erase(name, '_');
    all.push_back(
        {.name = name,
         .shapes = shapes,
         .op = [=](const std::vector<Tensor>& in) { return weigh(in[0], options).weights; },
         .plain = [=](const std::vector<Plain>& in) { return plain::weigh(in[0], options); }});
  }
  const WeightingOptions sample = options_of(Weighting::kHardSample);
  all.push_back(
      {.name = "WeighLogProbability",
       .shapes = shapes,
       .op = [=](const std::vector<Tensor>& in) { return weigh(in[0], sample).log_probability; },
       .plain =
           [=](const std::vector<Plain>& in) {
             const Plain drawn = plain::weigh(in[0], sample);
             const Plain p = plain::weigh(in[0], {.weighting = Weighting::kSoftmax});
             Plain logs(Shape{in[0].rows()});
             for (size_t i = 0; i < p.rows(); ++i) {
               for (size_t j = 0; j < p.width(); ++j) {
                 if (drawn(i, j) == 1) logs.values[i] = std::log(p(i, j));
               }
             }
             return logs;
           }});
  return all;
}

const RegisterOps kCases(cases());

Tensor random_scores(const Shape& shape, float range = 2.0f) {
  Tensor x = Tensor::empty(shape);
  fill_uniform(x.span(), RandomStream(21, 0), -range, range);
  return x;
}

// A third of the keys are masked, and in row 4 all.
void mask_some(const Tensor& scores) {
  for (size_t i = 0; i < scores.rows(); ++i) {
    for (size_t j = 0; j < scores.width(); ++j) {
      const bool masked = i == 4 || RandomStream(22, i).bernoulli(j, 0.33);
      if (masked) scores.data()[i * scores.stride() + j] = kMaskedScore;
    }
  }
}

// The sum of the weights times dw.
double weighted_sum(const Plain& scores, const WeightingOptions& options, const Plain& dw) {
  const Plain w = plain::weigh(scores, options);
  double sum = 0;
  for (size_t i = 0; i < w.values.size(); ++i) {
    if (scores.values[i] != kMaskedScore) sum += w.values[i] * dw.values[i];
  }
  return sum;
}

TEST(Weightings, MaskedScoresGiveExactZeros) {
  Tensor base = random_scores({6, 12});
  const Tensor view = base.require_grad().slice_columns(2, 9);
  mask_some(view);
  for (const Weighting weighting : all_weightings()) {
    const Plain expected = plain::weigh(Plain(view), options_of(weighting));
    const std::vector<float> scores = view.to_vector();
    const std::vector<float> weights = weigh(view, options_of(weighting)).weights.to_vector();
    for (size_t i = 0; i < weights.size(); ++i) {
      const double tolerance = scores[i] == kMaskedScore ? 0.0 : 1e-6;
      EXPECT_NEAR(weights[i], expected.values[i], tolerance) << name_of(weighting) << " at " << i;
    }
  }
}

// The gradient of a weight that is masked is not even read.
TEST(Weightings, MaskedGradientsAreExactZeros) {
  for (const Weighting weighting : all_weightings()) {
    if (!has_gradient(weighting)) continue;
    Tensor base = random_scores({6, 12});
    const Tensor view = base.require_grad().slice_columns(2, 9);
    mask_some(view);
    Plain scores(view);
    Tensor dw = random_scores({6, 9}, 1.0f);
    for (size_t i = 0; i < dw.size(); ++i) {
      if (scores.values[i] == kMaskedScore) dw.data()[i] = kNaN;
    }
    const WeightingOptions options = options_of(weighting);
    backward(weigh(view, options).weights, dw);
    const std::vector<float> gradient = view.grad().to_vector();
    for (size_t i = 0; i < gradient.size(); ++i) {
      if (scores.values[i] == kMaskedScore) {
        EXPECT_EQ(gradient[i], 0.0f) << name_of(weighting) << " at " << i;
        continue;
      }
      constexpr double kStep = 1e-5;
      const double before = std::exchange(scores.values[i], scores.values[i] + kStep);
      const double above = weighted_sum(scores, smooth_twin(options), Plain(dw));
      scores.values[i] = before - kStep;
      const double below = weighted_sum(scores, smooth_twin(options), Plain(dw));
      scores.values[i] = before;
      EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-5)
          << name_of(weighting) << " at " << i;
    }
  }
}

TEST(Weightings, AKeyMaskedForAllMightAsWellNotBeThere) {
  const Tensor with = random_scores({5, 8}), without = Tensor::empty({5, 7});
  for (size_t i = 0; i < 5; ++i) {
    with.data()[8 * i + 3] = kMaskedScore;
    std::copy_n(with.data() + 8 * i, 3, without.data() + 7 * i);
    std::copy_n(with.data() + 8 * i + 4, 4, without.data() + 7 * i + 3);
  }
  for (const Weighting weighting : all_weightings()) {
    std::vector<float> weights = weigh(with, options_of(weighting)).weights.to_vector();
    for (size_t i = 5; i-- > 0;) weights.erase(weights.begin() + static_cast<ptrdiff_t>(8 * i + 3));
    EXPECT_EQ(weights, weigh(without, options_of(weighting)).weights.to_vector())
        << name_of(weighting);
  }
}

TEST(Weightings, SameBitsForAnyNumberOfThreads) {
  Tensor scores = random_scores({300, 101}).require_grad();
  mask_some(scores);
  const Tensor dw = random_scores({300, 101}, 1.0f), dlog = random_scores({300}, 1.0f);
  const auto run = [&](Weighting weighting, int threads) {
    const ThreadCountScope scope(threads);
    scores.clear_grad();
    const Weighted y = weigh(scores, options_of(weighting));
    if (y.weights.needs_grad()) backward(y.weights, dw);
    if (y.log_probability.defined()) backward(y.log_probability, dlog);
    std::vector<std::vector<float>> results{y.weights.to_vector()};
    if (y.log_probability.defined()) results.push_back(y.log_probability.to_vector());
    if (scores.grad().defined()) results.push_back(scores.grad().to_vector());
    return results;
  };
  for (const Weighting weighting : all_weightings()) {
    const auto first = run(weighting, 1);
    EXPECT_EQ(run(weighting, 2), first) << name_of(weighting);
    EXPECT_EQ(run(weighting, 4), first) << name_of(weighting);
  }
}

TEST(Weightings, TakeEmptyMatrices) {
  for (const Weighting weighting : all_weightings()) {
    for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}}) {
      const Tensor scores = Tensor::zeros(shape).require_grad();
      const Weighted y = weigh(scores, options_of(weighting));
      EXPECT_EQ(y.weights.shape(), shape);
      if (y.weights.needs_grad()) backward(y.weights, Tensor::zeros(shape));
      if (weighting != Weighting::kHardSample) continue;
      EXPECT_EQ(y.log_probability.to_vector(), std::vector<float>(shape[0], 0.0f));
      backward(y.log_probability, Tensor::zeros({shape[0]}));
    }
  }
}

TEST(Weightings, OnlyHardOnesStopTheGradient) {
  const Tensor scores = random_scores({2, 3}).require_grad();
  for (const Weighting weighting : all_weightings()) {
    const Tensor weights = weigh(scores, options_of(weighting)).weights;
    EXPECT_EQ(weights.needs_grad(), has_gradient(weighting)) << name_of(weighting);
  }
}

// A model that has diverged should say so, and a sort should survive it.
TEST(Weightings, NaNIsNotHiddenAndStaysInItsRow) {
  constexpr size_t kKeys = 40;
  const auto is_nan = [](float w) { return std::isnan(w); };
  for (const Weighting weighting : all_weightings()) {
    if (!is_smooth(weighting)) continue;
    for (size_t place = 0; place < kKeys; ++place) {
      const Tensor scores = random_scores({2, kKeys});
      scores.data()[kKeys + place] = kNaN;
      const std::vector<float> weights = weigh(scores, options_of(weighting)).weights.to_vector();
      const auto second = weights.begin() + kKeys;
      EXPECT_TRUE(std::none_of(weights.begin(), second, is_nan)) << name_of(weighting);
      EXPECT_TRUE(std::any_of(second, weights.end(), is_nan)) << name_of(weighting);
    }
  }
}

TEST(Weightings, HaveNames) {
  EXPECT_EQ(all_weightings().size(), 12u);
  expect_names<Weighting>({"softmax", "sigmoid", "relu", "identity", "sparsemax", "entmax15",
                           "top_k", "hard_argmax", "hard_sample", "straight_through", "monotonic",
                           "monotonic_hard"});
}

TEST(Weightings, RefuseWhatCannotBe) {
  EXPECT_EQ(message_of([] {
              weigh(Tensor::zeros({2, 3, 4}), {});
            }),
            "weigh: scores are [2, 3, 4] but should be [queries, keys]; weigh one matrix a call");
  EXPECT_EQ(message_of<ConfigError>([] {
              weigh(Tensor::zeros({2, 3}), {.weighting = Weighting::kTopK, .top_k = 0});
            }),
            "weigh: top_k is 0, which leaves no key to look at; let it be 1 or more");
}

}  // namespace
}  // namespace attend
