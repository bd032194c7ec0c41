#include "attend/nn/crf.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/tensor/tape.h"

namespace attend {
namespace {

// Tag 1 may only follow tag 0 or itself, and ends nothing.
bool may_follow_zero(std::optional<size_t> before, std::optional<size_t> after) {
  if (after == 1u) return before == 0u || before == 1u;
  return !(before == 1u && !after);
}

TEST(CrfLayer, ConstraintsRuleOutSteps) {
  Rng rng(3);
  Crf crf(3, rng);
  EXPECT_EQ(parameter_count(crf), 15u);
  const Packing packing = Packing::of({3, 1});
  // Tag 1 is the likeliest everywhere.
  const Tensor emissions = Tensor::of({0, 9, 1, 0, 9, 1, 1, 9, 0, 0, 9, 1}, {4, 3}).require_grad();
  EXPECT_EQ(crf.best_paths(emissions, packing).tags, (std::vector<int32_t>{1, 1, 1, 1}));
  crf.constrain(may_follow_zero);
  EXPECT_EQ(crf.best_paths(emissions, packing).tags, (std::vector<int32_t>{0, 1, 0, 2}));

  const std::vector<float> marginals = crf.marginals(emissions, packing).to_vector();
  EXPECT_EQ(marginals[1], 0);
  EXPECT_GT(marginals[3 + 1], 0.9f);
  EXPECT_EQ(marginals[2 * 3 + 1], 0);
  EXPECT_EQ(marginals[3 * 3 + 1], 0);

  const Tensor gold = Tensor::ids({0, 1, 2, 2});
  const Tensor y = crf.log_likelihood(emissions, packing, gold);
  for (const float value : y.to_vector()) EXPECT_TRUE(std::isfinite(value));
  backward(y, Tensor::full({2}, 1.0f));
  for (const NamedTensor& p : parameters(crf)) {
    for (const float value : p.tensor.grad().to_vector()) EXPECT_TRUE(std::isfinite(value));
  }
  EXPECT_EQ(crf.transitions.grad().to_vector()[2 * 3 + 1], 0);  // 1 never follows 2
  EXPECT_NE(crf.transitions.grad().to_vector()[0 * 3 + 1], 0);
  EXPECT_EQ(crf.start.grad().to_vector()[1], 0);
  EXPECT_EQ(crf.end.grad().to_vector()[1], 0);
}

// With emissions that say nothing, the steps are learned from the tags alone.
TEST(CrfLayer, LearnsWhichTagsFollow) {
  Rng rng(4);
  Crf crf(3, rng);
  const Packing packing = Packing::of({6, 6});
  const Tensor emissions = Tensor::zeros({12, 3});
  const Tensor gold = Tensor::ids({0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2});
  for (int step = 0; step < 60; ++step) {
    clear_grads(crf);
    backward(crf.log_likelihood(emissions, packing, gold), Tensor::full({2}, 1.0f));
    for (const NamedTensor& p : parameters(crf)) {
      for (size_t i = 0; i < p.tensor.size(); ++i) {
        p.tensor.data()[i] += 0.3f * p.tensor.grad().data()[i];
      }
    }
  }
  const std::vector<int32_t> expected = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
  EXPECT_EQ(crf.best_paths(emissions, packing).tags, expected);
  EXPECT_GT(crf.log_likelihood(emissions, packing, gold).data()[0], std::log(0.9f));
}

}  // namespace
}  // namespace attend
