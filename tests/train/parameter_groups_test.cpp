// Rates by pattern and by layer, and layers that join one after another.
#include "attend/train/parameter_groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "attend/models/gpt.h"
#include "attend/nn/depth.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

struct GroupedModel {
  GptConfig config = [] {
    GptConfig c;
    c.text_vocabulary = 6;
    c.width = 8, c.heads = 2, c.layers = 3;
    return c;
  }();
  Rng rng{1};
  Gpt model{config, rng};
  struct : Objective {
    Loss loss(const Model&, const Batch&, const LossContext&) const override { return {}; }
  } objective;

  std::map<std::string, double> rates(const TrainingConfig& training) {
    std::map<std::string, double> found;
    for (const ParameterGroup& group : trained_groups(model, objective, training)) {
      for (const NamedTensor& p : group.parameters) found[p.name] = group.rate;
    }
    return found;
  }
};

TEST(ParameterGroups, TheTopLayerHasTheWholeRateAndEachBelowLess) {
  GroupedModel made;
  TrainingConfig training;
  training.layer_decay = 0.5;
  const auto rates = made.rates(training);
  EXPECT_EQ(rates.at("norm.weight"), 1.0);
  EXPECT_EQ(rates.at("layers.2.self.query.weight"), 1.0);
  EXPECT_EQ(rates.at("layers.1.self.query.weight"), 0.5);
  EXPECT_EQ(rates.at("layers.0.feed_forward.in.bias"), 0.25);
  EXPECT_EQ(rates.at("embedding.weight"), 0.125);
  EXPECT_EQ(rates.size(), parameters(made.model).size());
}

TEST(ParameterGroups, PatternsMultiplyAndTheLastCounts) {
  GroupedModel made;
  TrainingConfig training;
  training.layer_decay = 0.5;
  training.rates = {"layers=0.1", "*.bias=4", "layers.2.self=0"};
  training.frozen = {"embedding"};
  const auto rates = made.rates(training);
  EXPECT_DOUBLE_EQ(rates.at("layers.1.self.query.weight"), 0.05);
  EXPECT_DOUBLE_EQ(rates.at("layers.1.self.query.bias"), 2.0);
  EXPECT_EQ(rates.at("layers.2.self.query.bias"), 0.0);
  EXPECT_EQ(rates.count("embedding.weight"), 0u);
  training.rates = {"nowhere=2"};
  expect_error<ConfigError>([&] { made.rates(training); }, "no parameter matches 'nowhere'");
  const std::vector<std::string> wrong[] = {{"layers"}, {"=2"}, {"layers=fast"}, {"layers=-1"}};
  for (const auto& texts : wrong) {
    expect_error<ConfigError>([&] { rate_patterns(texts); }, "give a pattern, = and a factor");
  }
}

// SGD without clipping: what a parameter moves is its rate times its gradient.
TEST(ParameterGroups, RatesReachTheOptimizer) {
  GroupedModel made;
  TrainingConfig training;
  training.layer_decay = 0.5;
  training.rates = {"norm=3"};
  Optimizer optimizer = Optimizer::of_groups(trained_groups(made.model, made.objective, training),
                                             {.kind = OptimizerKind::kSgd, .rate = 0.1});
  std::vector<Tensor> gradients;
  std::vector<std::vector<float>> before;
  for (const NamedTensor& p : optimizer.parameters()) {
    gradients.push_back(Tensor::full(p.tensor.shape(), 2.0f));
    before.push_back(p.tensor.to_vector());
  }
  optimizer.step(gradients, 1.0);
  const std::map<std::string, float> moves = {{"embedding.weight", 0.1f * 2 * 0.125f},
                                              {"layers.0.self.query.weight", 0.1f * 2 * 0.25f},
                                              {"layers.1.self.query.weight", 0.1f * 2 * 0.5f},
                                              {"layers.2.self.query.weight", 0.1f * 2},
                                              {"norm.weight", 0.1f * 2 * 3}};
  size_t seen = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const auto move = moves.find(optimizer.parameters()[i].name);
    if (move == moves.end()) continue;
    ++seen;
    EXPECT_NEAR(before[i][0] - optimizer.parameters()[i].tensor.data()[0], move->second, 1e-6f)
        << move->first;
  }
  EXPECT_EQ(seen, moves.size());
}

TEST(Unfreezing, OneMoreLayerFromTheTop) {
  GroupedModel made;
  TrainingConfig training;
  training.unfreeze = "10";
  Unfreezing unfreezing(made.model, training);
  const auto trained = [&made] {
    std::string names;
    for (const char* name :
         {"embedding.weight", "layers.0.self.query.weight", "layers.1.self.query.weight",
          "layers.2.self.query.weight", "norm.weight"}) {
      for (const NamedTensor& p : parameters(made.model)) {
        if (p.name == name) names += p.tensor.needs_grad() ? "1" : "0";
      }
    }
    return names;
  };
  EXPECT_TRUE(unfreezing.at(0, 0));
  EXPECT_EQ(trained(), "00001");
  EXPECT_FALSE(unfreezing.at(9, 5));
  EXPECT_TRUE(unfreezing.at(10, 0));
  EXPECT_EQ(trained(), "00011");
  EXPECT_TRUE(unfreezing.at(30, 0));
  EXPECT_EQ(trained(), "01111");
  EXPECT_TRUE(unfreezing.at(1000, 0));
  EXPECT_EQ(trained(), "11111");
  EXPECT_FALSE(unfreezing.at(2000, 0));

  training.unfreeze = "epoch";
  Unfreezing by_epoch(made.model, training);
  EXPECT_TRUE(by_epoch.at(500, 1));
  EXPECT_EQ(trained(), "00011");
  expect_error<ConfigError>([] { unfreezing_of("soon"); }, "a number of steps, or epoch");
  expect_error<ConfigError>([] { unfreezing_of("0"); }, "a number of steps, or epoch");
}

TEST(Unfreezing, LayersKeepTheirBitsUntilItIsTheirTurn) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.average = 0;
  config.optimizer.weight_decay = 0.1;
  config.training.unfreeze = "4";
  config.training.steps = 4;
  config.validation.every = 100;
  run(config);
  const TextModel trained = TextModel::load(config.out);
  Rng rng(config.training.seed);
  const auto fresh = make_model(trained.config, rng);
  const auto before = parameters(*fresh), after = parameters(*trained.model);
  const Depths depths = depths_of(after);
  for (size_t i = 0; i < after.size(); ++i) {
    const bool same = before[i].tensor.to_vector() == after[i].tensor.to_vector();
    EXPECT_EQ(same, depths.of[i] <= depths.layers) << after[i].name;
  }
}

TEST(Unfreezing, AResumedRunIsAsNeverStopped) {
  for (const char* every : {"5", "epoch"}) {
    const TemporaryDirectory whole, parts;
    RunConfig config = small_run(whole.path());
    config.training.unfreeze = every;
    config.training.layer_decay = 0.7;
    run(config);
    RunConfig stopped = small_run(parts.path());
    stopped.training.unfreeze = every;
    stopped.training.layer_decay = 0.7;
    for (const int64_t step : {3, 9, 18}) {
      std::atomic<bool> stop{false};
      StopAt observer(step, stop);
      EXPECT_EQ(run_training(stopped, observer, stop).end, TrainingEnd::kStopped);
    }
    run(stopped);
    EXPECT_EQ(outcome(stopped.out), outcome(config.out)) << every;
  }
}

}  // namespace
}  // namespace attend
