// The attention op on either path against its plain twin in double: outputs, and the gradients of
// all that it takes against finite differences of the twin.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/attention/points.h"

namespace attend {
namespace {

using plain::Plain;

const std::vector<Sizes>& small_sizes() {
  static const std::vector<Sizes> sizes{
      {{3, 2}, {4, 3}, 2, 2, 3, 2},        // as a decoder has them
      {{0, 2, 1}, {2, 0, 5}, 2, 1, 2, 3},  // sequences without queries, or without keys; grouped
      {{5}, {2}, 1, 1, 3, 1},              // more queries than keys
      {{1}, {1}, 1, 1, 1, 1},
      {{2, 1}, {3, 1}, 4, 2, 2, 1},
  };
  return sizes;
}

// What sum(seed y) gains with each of the values that stand for x; NaN at a kink, told by the two
// sides of it.
std::vector<double> slopes(plain::Attention& twin, const Tensor& x,
                           const std::vector<float>& seed) {
  constexpr double kStep = 1e-5, kBend = 1e-3;
  const auto loss = [&] {
    const Plain y = twin.output();
    double sum = 0.0;
    for (size_t i = 0; i < seed.size(); ++i) sum += seed[i] * y.values[i];
    return sum;
  };
  const double here = loss();
  std::vector<double> all;
  for (double& value : twin[x].values) {
    const double before = value;
    value = before + kStep;
    const double above = (loss() - here) / kStep;
    value = before - kStep;
    const double below = (here - loss()) / kStep;
    value = before;
    all.push_back(std::abs(above - below) > kBend ? std::nan("") : (above + below) / 2);
  }
  return all;
}

// The call whose derivative in x is the gradient of x. A straight-through choice has that of the
// softmax, but for what is chosen.
plain::AttentionCall differentiated(const plain::AttentionCall& call, const Tensor& x) {
  plain::AttentionCall smooth = call;
  const float* chosen[] = {call.v.data(), call.options.shaw.values.defined()
                                              ? call.options.shaw.values.data()
                                              : nullptr};
  if (call.options.weighting == Weighting::kStraightThrough &&
      std::ranges::find(chosen, x.data()) == std::end(chosen)) {
    smooth.options.weighting = Weighting::kSoftmax;
  }
  return smooth;
}

struct Count {
  size_t compared = 0, kinks = 0;
};

// To a tolerance of the largest; what is NaN is not known.
void expect_near(const std::vector<float>& actual, const std::vector<double>& expected,
                 double tolerance) {
  double scale = 0.1;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) continue;
    ASSERT_NEAR(actual[i], expected[i], tolerance * scale) << i;
  }
}

void check(const Point& point, Count& count) {
  std::vector<Outcome> outcomes{run(point, true)};
  if (Outcome open = run(point, false); open.attended.path == AttentionPath::kFused) {
    outcomes.push_back(std::move(open));
  }
  const Plain output = plain::Attention(point.call).output();
  for (const Outcome& outcome : outcomes) expect_near(outcome.values[0], output.values, 3e-6);
  const std::vector<float> seed = seed_of(output.shape).to_vector();
  for (size_t l = 0; l < point.leaves.size(); ++l) {
    plain::Attention twin(differentiated(point.call, point.leaves[l]));
    const std::vector<double> expected = slopes(twin, point.leaves[l], seed);
    for (const double slope : expected) ++(std::isnan(slope) ? count.kinks : count.compared);
    for (const Outcome& outcome : outcomes) {
      SCOPED_TRACE(fmt::format("gradient of leaf {}, {}", l, point.leaves[l].shape()));
      expect_near(outcome.values[l + 1], expected, 1e-5);
    }
  }
}

class AttentionGradients : public testing::TestWithParam<Weighting> {};

// One in so many points of the whole space, so that any two of its choices meet.
TEST_P(AttentionGradients, AreThoseOfTheTwinInDouble) {
  constexpr size_t kOneIn = 7;
  Count count;
  for (size_t s = 0; s < small_sizes().size(); ++s) {
    for (size_t a = 0; a < all_scores().size(); ++a) {
      for (size_t m = 0; m < masks().size(); ++m) {
        for (size_t t = 0; t < terms().size(); ++t) {
          const Sizes& sizes = small_sizes()[s];
          const Score score = all_scores()[a];
          const Feature &mask = masks()[m], &term = terms()[t];
          if ((s + a + m + t) % kOneIn != 0 || !possible(sizes, score)) continue;
          Point point = make_point(sizes, score, GetParam());
          if (!term.fits(point.call.options)) continue;
          mask.apply(point, sizes);
          term.apply(point, sizes);
          SCOPED_TRACE(fmt::format("sizes {}, score {}, mask {}, term {}", s, name_of(score),
                                   mask.name, term.name));
          check(point, count);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  EXPECT_LT(100 * count.kinks, count.compared);
}

INSTANTIATE_TEST_SUITE_P(All, AttentionGradients, testing::ValuesIn(all_weightings()),
                         [](const auto& weighting) {
                           std::string name(name_of(weighting.param));
                           std::erase(name, '_');
                           return name;
                         });

}  // namespace
}  // namespace attend
