#include "attend/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/base/rng.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/embedding.h"
#include "attend/ops/reduce.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/names.h"

namespace attend {
namespace {

// Gives x the gradient `g` and takes one step.
double step_with(Optimizer& optimizer, const Tensor& x, std::initializer_list<float> g) {
  backward(x, Tensor::of(g, x.shape()));
  return optimizer.step();
}

TEST(Optimizer, SgdFollowsTheGradient) {
  const Tensor x = Tensor::of({1, 2}, {2}).require_grad();
  Optimizer optimizer({{"x", x}}, {.kind = OptimizerKind::kSgd, .rate = 0.5});
  EXPECT_EQ(step_with(optimizer, x, {2, 4}), std::sqrt(20.0));
  EXPECT_EQ(x.to_vector(), (std::vector<float>{0, 0}));
  EXPECT_FALSE(x.grad().defined());
}

TEST(Optimizer, MomentumRemembers) {
  const Tensor x = Tensor::zeros({1}).require_grad();
  Optimizer optimizer({{"x", x}}, {.kind = OptimizerKind::kSgd, .rate = 1.0, .momentum = 0.5});
  step_with(optimizer, x, {1});
  step_with(optimizer, x, {1});
  EXPECT_EQ(x.item(), -2.5f);  // -1 - (0.5 + 1)
}

TEST(Optimizer, FirstAdamStepHasTheSizeOfTheRate) {
  const Tensor x = Tensor::zeros({3}).require_grad();
  Optimizer optimizer({{"x", x}}, {.rate = 0.1});
  step_with(optimizer, x, {1e-3f, -5, 100});
  EXPECT_NEAR(x.to_vector()[0], -0.1f, 1e-5f);
  EXPECT_NEAR(x.to_vector()[1], 0.1f, 1e-5f);
  EXPECT_NEAR(x.to_vector()[2], -0.1f, 1e-5f);
}

TEST(Optimizer, DecaysMatricesButNotVectors) {
  const Tensor matrix = Tensor::full({1, 1}, 1.0f).require_grad();
  const Tensor vector = Tensor::full({1}, 1.0f).require_grad();
  Optimizer optimizer({{"matrix", matrix}, {"vector", vector}}, {.rate = 0.1, .weight_decay = 0.5});
  backward(matrix, Tensor::zeros({1, 1}));
  backward(vector, Tensor::zeros({1}));
  optimizer.step();
  EXPECT_FLOAT_EQ(matrix.item(), 0.95f);
  EXPECT_EQ(vector.item(), 1.0f);
}

TEST(Optimizer, ClipsAllGradientsTogether) {
  const Tensor a = Tensor::zeros({1}).require_grad(), b = Tensor::zeros({1}).require_grad();
  Optimizer optimizer({{"a", a}, {"b", b}},
                      {.kind = OptimizerKind::kSgd, .rate = 1.0, .clip_norm = 1.0});
  backward(a, Tensor::of({3}, {1}));
  backward(b, Tensor::of({4}, {1}));
  EXPECT_EQ(optimizer.step(), 5.0);
  EXPECT_NEAR(a.item(), -0.6f, 1e-6f);
  EXPECT_NEAR(b.item(), -0.8f, 1e-6f);
}

TEST(Optimizer, AppliesNothingWhenAGradientIsNotFinite) {
  const Tensor x = Tensor::of({1, 2}, {2}).require_grad();
  const Tensor twin = Tensor::of({1, 2}, {2}).require_grad();
  Optimizer optimizer({{"x", x}}, {}), untroubled({{"twin", twin}}, {});
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_FALSE(std::isfinite(step_with(optimizer, x, {1, bad})));
    EXPECT_EQ(x.to_vector(), (std::vector<float>{1, 2}));
    EXPECT_EQ(optimizer.steps(), 0);
    EXPECT_FALSE(x.grad().defined());
  }
  // Nor do the moments remember.
  step_with(optimizer, x, {1, 3});
  step_with(untroubled, twin, {1, 3});
  EXPECT_EQ(x.to_vector(), twin.to_vector());
}

TEST(Optimizer, DoesNotLookAtGradientsFirstWhenToldNotTo) {
  const Tensor x = Tensor::of({1, 2}, {2}).require_grad();
  Optimizer optimizer({{"x", x}},
                      {.kind = OptimizerKind::kSgd, .rate = 1.0, .check_finite = false});
  EXPECT_EQ(step_with(optimizer, x, {1, std::numeric_limits<float>::infinity()}), 0.0);
  EXPECT_EQ(x.to_vector(), (std::vector<float>{0, -std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(optimizer.steps(), 1);
}

TEST(Optimizer, LeavesParametersWithoutAGradient) {
  const Tensor x = Tensor::of({1}, {1}).require_grad();
  Optimizer optimizer({{"x", x}}, {.weight_decay = 0.5});
  EXPECT_EQ(optimizer.step(), 0.0);
  EXPECT_EQ(x.item(), 1.0f);
}

TEST(Optimizer, RateFactorScales) {
  const Tensor x = Tensor::zeros({1}).require_grad();
  Optimizer optimizer({{"x", x}}, {.kind = OptimizerKind::kSgd, .rate = 1.0});
  backward(x, Tensor::of({1}, {1}));
  optimizer.step(0.25);
  EXPECT_EQ(x.item(), -0.25f);
}

TEST(Optimizer, GroupsHaveRatesOfTheirOwn) {
  const Tensor a = Tensor::zeros({1}).require_grad(), b = Tensor::zeros({1}).require_grad();
  Optimizer optimizer =
      Optimizer::of_groups({{{{"a", a}}, 1.0}, {{{"b", b}}, 0.25}},
                           {.kind = OptimizerKind::kSgd, .rate = 2.0, .momentum = 0.5});
  backward(a, Tensor::of({1}, {1}));
  backward(b, Tensor::of({1}, {1}));
  optimizer.step(0.5);
  EXPECT_EQ(a.item(), -1.0f);
  EXPECT_EQ(b.item(), -0.25f);
  ASSERT_EQ(optimizer.parameters().size(), 2u);
  EXPECT_EQ(optimizer.state()[1].name, "first.b");
  EXPECT_THROW(Optimizer::of_groups({{{{"a", a}}, -1.0}}, {}), ConfigError);
}

TEST(Optimizer, TakesGradientsThatAreGiven) {
  const Tensor a = Tensor::zeros({1}).require_grad(), b = Tensor::zeros({1}).require_grad();
  Optimizer optimizer({{"a", a}, {"b", b}}, {.kind = OptimizerKind::kSgd, .rate = 1.0});
  const Tensor gradients[] = {Tensor::of({3}, {1}), Tensor()};
  EXPECT_EQ(optimizer.step(gradients, 1.0), 3.0);
  EXPECT_EQ(a.item(), -3.0f);
  EXPECT_EQ(b.item(), 0.0f);
  EXPECT_THROW(optimizer.step(std::span(gradients).first(1), 1.0), ShapeError);
}

TEST(Optimizer, PatternsMatchNamesAndAllBelowThem) {
  EXPECT_TRUE(matches_pattern("encoder.0.query.weight", "encoder"));
  EXPECT_TRUE(matches_pattern("encoder.0.query.weight", "encoder.0.query.weight"));
  EXPECT_TRUE(matches_pattern("encoder.0.query.weight", "*.weight"));
  EXPECT_TRUE(matches_pattern("encoder.0.query.weight", "encoder.*.query"));
  EXPECT_TRUE(matches_pattern("encoder.0.query.weight", "*"));
  EXPECT_FALSE(matches_pattern("encoder_norm.gain", "encoder"));
  EXPECT_FALSE(matches_pattern("encoder.0.query.weight", "decoder"));
  EXPECT_FALSE(matches_pattern("encoder.0.query.weight", "encoder.*.bias"));
  EXPECT_FALSE(matches_pattern("enc", "encoder"));
}

struct TiedParts {
  Tensor input = Tensor::full({2}, 1.0f).require_grad(), output = input;
  Tensor other = Tensor::full({2}, 1.0f).require_grad();
  void visit(Visitor& v) {
    v("input", input);
    v("output", output);
    v("other", other);
  }
};

TEST(Optimizer, FrozenPartsGetNoGradientWhereverTheyAreShared) {
  TiedParts parts;
  const std::string patterns[] = {"input"};
  const auto trained = freeze_matching(parts, patterns);
  ASSERT_EQ(trained.size(), 1u);
  EXPECT_EQ(trained.front().name, "other");
  EXPECT_FALSE(parts.input.needs_grad() || parts.output.needs_grad());
  EXPECT_TRUE(parts.other.needs_grad());
  EXPECT_EQ(parameters(parts).size(), 2u) << "still saved";
  const std::string none[] = {"inputs"};
  expect_error<ConfigError>([&] { freeze_matching(parts, none); },
                            "no parameter matches 'inputs'; the first parameters are input, other");
}

TEST(Optimizer, RefusesSettingsThatCannotWork) {
  EXPECT_EQ(message_of<ConfigError>([] { Optimizer({}, {.beta1 = 1.0}); }),
            "optimizer: beta1 is 1; it must be at least 0 and below 1");
  EXPECT_THROW(Optimizer({}, {.rate = -1.0}), ConfigError);
  EXPECT_THROW(Optimizer({}, {.kind = OptimizerKind::kSgd, .nesterov = true}), ConfigError);
  expect_names<OptimizerKind>({"adamw", "adam", "sgd"});
}

// Rows that occurred, as a sparse look-up gives them, and the same gradient of the whole table.
struct BothGradients {
  Tensor sparse = Tensor::full({40, 5}, 1.0f).require_grad();
  Tensor dense = Tensor::full({40, 5}, 1.0f).require_grad();

  void step(Optimizer& first, Optimizer& second, uint64_t seed) {
    std::vector<int32_t> ids;
    for (uint64_t i = 0; i < 9; ++i) {
      ids.push_back(static_cast<int32_t>(RandomStream(seed, 1).below(i, 20)));
    }
    const Tensor dy = Tensor::empty({9, 5});
    fill_uniform(dy.span(), RandomStream(seed, 2), -1.0f, 1.0f);
    backward(sparse_embedding(sparse, Tensor::ids(ids, {9})), dy);
    backward(embedding(dense, Tensor::ids(ids, {9})), dy);
    ASSERT_TRUE(row_gradient(sparse).defined());
    EXPECT_NEAR(first.step(), second.step(), 1e-6);
    EXPECT_FALSE(sparse.grad().defined());
  }
};

TEST(Optimizer, SgdOfRowsHasTheBitsOfTheWholeTable) {
  BothGradients both;
  const OptimizerConfig config{.kind = OptimizerKind::kSgd, .rate = 0.1};
  Optimizer first({{"table", both.sparse}}, config), second({{"table", both.dense}}, config);
  for (uint64_t seed = 1; seed < 6; ++seed) both.step(first, second, seed);
  EXPECT_EQ(both.sparse.to_vector(), both.dense.to_vector());
}

// The norm is summed in another order, so that clipped gradients may differ in their last bits.
TEST(Optimizer, RowsAreClippedByTheNormOfTheirSums) {
  BothGradients both;
  const OptimizerConfig config{.kind = OptimizerKind::kSgd, .rate = 0.1, .clip_norm = 0.5};
  Optimizer first({{"table", both.sparse}}, config), second({{"table", both.dense}}, config);
  for (uint64_t seed = 1; seed < 4; ++seed) both.step(first, second, seed);
  for (size_t i = 0; i < both.sparse.size(); ++i) {
    EXPECT_NEAR(both.sparse.data()[i], both.dense.data()[i], 1e-6);
  }
}

TEST(Optimizer, AdamOfRowsIsThatOfTheTableOnceAndLetsTheOthersRest) {
  BothGradients both;
  Optimizer first({{"table", both.sparse}}, {.rate = 0.1, .weight_decay = 0.1});
  Optimizer second({{"table", both.dense}}, {.rate = 0.1, .weight_decay = 0.1});
  both.step(first, second, 1);
  size_t resting = 0;
  for (size_t row = 0; row < 40; ++row) {
    const float* const a = both.sparse.data() + row * 5;
    const float* const b = both.dense.data() + row * 5;
    if (first.state()[0].tensor.data()[row * 5] == 0) {  // its moment
      EXPECT_EQ(std::vector<float>(a, a + 5), std::vector<float>(5, 1.0f));
      ++resting;
    } else {
      EXPECT_EQ(std::vector<float>(a, a + 5), std::vector<float>(b, b + 5));
    }
  }
  EXPECT_GE(resting, 31u);
  EXPECT_LT(resting, 40u);
}

TEST(Optimizer, RowsThatAreNotFiniteChangeNothing) {
  const Tensor table = Tensor::full({3, 2}, 1.0f).require_grad();
  Optimizer optimizer({{"table", table}}, {.kind = OptimizerKind::kSgd, .rate = 0.1});
  backward(sparse_embedding(table, Tensor::ids({1, 2})),
           Tensor::of({1, 1, std::numeric_limits<float>::infinity(), 1}, {2, 2}));
  EXPECT_FALSE(std::isfinite(optimizer.step()));
  EXPECT_EQ(table.to_vector(), std::vector<float>(6, 1.0f));
  EXPECT_FALSE(row_gradient(table).defined());
}

}  // namespace
}  // namespace attend
