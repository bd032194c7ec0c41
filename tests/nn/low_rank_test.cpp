#include "attend/nn/low_rank.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/nn/embedding.h"
#include "attend/nn/linear.h"
#include "attend/ops/reduce.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "tests/errors.h"

namespace attend {
namespace {

struct LowRankParts {
  Rng rng{3};
  Embedding table{7, 6, rng};
  Linear query{6, 5, rng}, value{6, 4, rng};

  void visit(Visitor& v) {
    v("table", table);
    v("query", query);
    v("value", value);
  }
};

constexpr const char* kLowRankTargets[] = {"query", "table"};

LowRankConfig low_rank_two() {
  LowRankConfig config;
  config.rank = 2, config.alpha = 6;
  config.targets = {kLowRankTargets[0], kLowRankTargets[1]};
  return config;
}

// A change that is not zero any more.
void move_low_rank(LowRankParts& parts) {
  for (const NamedTensor& p : parameters(parts)) {
    if (p.name.ends_with(kLowRankUp)) fill_normal(p.tensor.span(), RandomStream(9, 0), 0.0f, 0.3f);
  }
}

TEST(LowRank, ChangesNothingAtFirst) {
  LowRankParts parts;
  const Tensor x = Tensor::of({1, -2, 3, 0.5f, 0, 1}, {1, 6}), ids = Tensor::ids({2, 5, 2});
  const Activation gelu = Activation::kGelu;
  const auto before = parts.query(x).to_vector(), active = parts.query(x, gelu).to_vector(),
             rows = parts.table(ids, 2.0f).to_vector();
  Rng rng(4);
  add_low_rank(parts, low_rank_two(), rng);
  EXPECT_EQ(parts.query(x).to_vector(), before);
  EXPECT_EQ(parts.query(x, gelu).to_vector(), active);
  EXPECT_EQ(parts.table(ids, 2.0f).to_vector(), rows);
  EXPECT_EQ(parts.value.weight.change, nullptr);
}

TEST(LowRank, MergedIsAsApartWithinRounding) {
  LowRankParts parts;
  Rng rng(4);
  add_low_rank(parts, low_rank_two(), rng);
  move_low_rank(parts);
  const Tensor x = Tensor::of({1, -2, 3, 0.5f, 0, 1, 4, 4, -1, 2, 0, 1}, {2, 6});
  const Tensor ids = Tensor::ids({2, 5, 2});
  const auto all = [&] {
    std::vector<float> found = parts.query(x, Activation::kTanh).to_vector();
    for (const float value : parts.table(ids, 2.0f).to_vector()) found.push_back(value);
    for (const float value : parts.table.tied_output()(x).to_vector()) found.push_back(value);
    for (const float value : parts.query.weight.matrix().to_vector()) found.push_back(value);
    return found;
  };
  const std::vector<float> apart = all();
  merge_low_rank(parts);
  EXPECT_EQ(parts.query.weight.change, nullptr);
  const std::vector<float> merged = all();
  for (size_t i = 0; i < apart.size(); ++i) {
    EXPECT_NEAR(merged[i], apart[i], 1e-5f * (1 + std::abs(apart[i]))) << i;
  }
  EXPECT_EQ(parameters(parts).size(), 5u);
}

TEST(LowRank, OnlyTheChangeAndWhatIsNamedIsTrained) {
  LowRankParts parts;
  Rng rng(4);
  add_low_rank(parts, low_rank_two(), rng);
  freeze_base(parts, {"value.weight"});
  std::vector<std::string> trained;
  for (const NamedTensor& p : parameters(parts)) {
    if (p.tensor.needs_grad()) trained.push_back(p.name);
  }
  EXPECT_EQ(trained, (std::vector<std::string>{"table.weight.lora_down", "table.weight.lora_up",
                                               "query.weight.lora_down", "query.weight.lora_up",
                                               "value.weight"}));
  const Tensor x = Tensor::of({1, -2, 3, 0.5f, 0, 1}, {1, 6});
  backward(sum(parts.query(x)));
  // d up = scale dy (down x)^T, and nothing reaches `down` through an `up` of zeros.
  const LowRank& change = *parts.query.weight.change;
  const Tensor inner = linear(x, change.down.detach(), {});
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = 0; j < 2; ++j) {
      EXPECT_NEAR(change.up.grad().data()[i * 2 + j], 3.0f * inner.data()[j], 1e-5f);
    }
  }
  for (const float d : change.down.grad().span()) EXPECT_EQ(d, 0.0f);
}

TEST(LowRank, SaysWhatCannotBe) {
  LowRankParts parts;
  Rng rng(4);
  LowRankConfig config = low_rank_two();
  config.targets = {"key"};
  expect_error<ConfigError>([&] { add_low_rank(parts, config, rng); },
                            "no matrix of a linear layer matches 'key'; there are: table.weight, "
                            "query.weight, value.weight");
  config.rank = 0;
  expect_error<ConfigError>([&] { add_low_rank(parts, config, rng); }, "a rank of 0");
  config.rank = 1, config.alpha = 0;
  expect_error<ConfigError>([&] { add_low_rank(parts, config, rng); }, "alpha is 0");
}

}  // namespace
}  // namespace attend
