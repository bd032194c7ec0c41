// A point of attention's space against its plain twin in double: outputs, and the gradients of all
// that it takes against finite differences of the twin.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/attention/points.h"

namespace attend {

// What sum(seed y) gains with each of the values that stand for x; NaN at a kink, told by the two
// sides of it.
inline std::vector<double> slopes(plain::Attention& twin, const Tensor& x,
                                  const std::vector<float>& seed) {
  constexpr double kStep = 1e-5, kBend = 1e-3;
  const auto loss = [&] {
    const plain::Plain y = twin.output();
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
inline plain::AttentionCall differentiated(const plain::AttentionCall& call, const Tensor& x) {
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
  size_t compared = 0, kinks = 0;  // numbers of gradients
};

// To a tolerance of the largest; what is NaN is not known.
inline void expect_near_twin(const std::vector<float>& actual, const std::vector<double>& expected,
                             double tolerance) {
  double scale = 0.1;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) continue;
    ASSERT_NEAR(actual[i], expected[i], tolerance * scale) << i;
  }
}

// Outputs and gradients of a point on both of its paths; whether the fused one is open.
inline bool expect_equals_twin(const Point& point, Count& count) {
  std::vector<Outcome> outcomes{run(point, true)};
  if (Outcome open = run(point, false); open.attended.path == AttentionPath::kFused) {
    outcomes.push_back(std::move(open));
  }
  const plain::Plain output = plain::Attention(point.call).output();
  for (const Outcome& outcome : outcomes) expect_near_twin(outcome.values[0], output.values, 3e-6);
  const std::vector<float> seed = seed_of(output.shape).to_vector();
  for (size_t l = 0; l < point.leaves.size(); ++l) {
    plain::Attention twin(differentiated(point.call, point.leaves[l]));
    const std::vector<double> expected = slopes(twin, point.leaves[l], seed);
    for (const double slope : expected) ++(std::isnan(slope) ? count.kinks : count.compared);
    for (const Outcome& outcome : outcomes) {
      SCOPED_TRACE(fmt::format("gradient of leaf {}, {}", l, point.leaves[l].shape()));
      expect_near_twin(outcome.values[l + 1], expected, 1e-5);
    }
  }
  return outcomes.size() > 1;
}

}  // namespace attend
