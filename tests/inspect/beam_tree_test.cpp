// A search, watched.
#include "attend/inspect/beam_tree.h"

#include <gtest/gtest.h>

#include "attend/base/special_tokens.h"
#include "attend/inspect/step_rows.h"
#include "tests/decode/toy.h"
#include "tests/inspect/readings.h"

namespace attend {
namespace {

Tokens one_source() { return {std::vector<int32_t>{3, 4, 2}, Packing::even(1, 3)}; }

TEST(BeamTree, WatchingChangesNothing) {
  const ToyGenerator model(9, 5);
  SearchConfig config{.beam = 3, .n_best = 3, .max_length = 6};
  const auto alone = search(model, one_source(), config)[0];
  BeamTree tree(8);
  config.observer = &tree;
  const auto watched = search(model, one_source(), config)[0];
  ASSERT_EQ(alone.size(), watched.size());
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(alone[i].tokens, watched[i].tokens);
    EXPECT_EQ(alone[i].score, watched[i].score);
  }
}

TEST(BeamTree, HasTheWayToEveryHypothesis) {
  const ToyGenerator model(9, 5);
  BeamTree tree(2);
  SearchConfig config{.beam = 3, .n_best = 3, .max_length = 6};
  config.observer = &tree;
  const auto found = search(model, one_source(), config);
  for (const Hypothesis& h : found[0]) {
    const std::vector<size_t> path = tree.path(h);
    ASSERT_EQ(path.size(), h.log_probabilities.size());
    double total = 0;
    size_t parent = 0;
    for (size_t i = 0; i < path.size(); ++i) {
      const BeamNode& node = tree.node(path[i]);
      total += double{h.log_probabilities[i]};
      EXPECT_TRUE(node.kept);
      EXPECT_EQ(node.parent, parent);
      EXPECT_EQ(node.token, i < h.tokens.size() ? h.tokens[i] : kEnd);
      EXPECT_NEAR(node.total, total, 1e-6);
      parent = path[i];
    }
    EXPECT_EQ(tree.tokens(path.back()), h.tokens);
  }
}

TEST(BeamTree, ShowsWhatWasPruned) {
  const ToyGenerator model(9, 5);
  std::vector<BeamTree::Step> steps;
  BeamTree tree(4);
  tree.on_step_call([&](const BeamTree::Step& step) { steps.push_back(step); });
  SearchConfig config{.beam = 1, .max_length = 5};
  config.observer = &tree;
  search(model, one_source(), config);
  ASSERT_FALSE(steps.empty());
  size_t seen = 0;
  for (const BeamTree::Step& step : steps) {
    EXPECT_EQ(step.first, seen + 1);
    EXPECT_EQ(step.count, 4u);  // one that is kept and three that are not
    EXPECT_EQ(step.best, step.first);
    seen += step.count;
  }
  EXPECT_EQ(seen, tree.nodes().size());
}

TEST(BeamTree, ShowsWhatCouldHaveStoodInPlaceOfAPrefix) {
  const ToyGenerator model(9, 5);
  SearchConfig config{.beam = 3, .n_best = 3, .max_length = 6};
  const Prefixes prefix = {{6, 3}};
  const auto alone = search(model, one_source(), config, prefix)[0];
  BeamTree tree(4);
  config.observer = &tree;
  const auto watched = search(model, one_source(), config, prefix)[0];
  ASSERT_EQ(alone.size(), watched.size());
  for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(alone[i].tokens, watched[i].tokens);
  const std::vector<size_t> path = tree.path(watched[0]);
  for (size_t t = 0; t < prefix[0].size(); ++t) {
    std::vector<BeamNode> offered;
    for (const BeamNode& node : tree.nodes()) {
      if (node.parent == (t == 0 ? 0 : path[t - 1])) offered.push_back(node);
    }
    ASSERT_EQ(offered.size(), 4u);
    EXPECT_EQ(offered[0].token, prefix[0][t]);
    for (size_t i = 0; i < offered.size(); ++i) EXPECT_EQ(offered[i].kept, i == 0);
    EXPECT_GE(offered[1].log_probability, offered[2].log_probability);
  }
}

// Of the best hypothesis of each step, whoever its neighbours are.
TEST(StepRows, AreTheRowsOfTheMap) {
  ModelConfig covering = ModelConfig::of_preset("bahdanau");
  covering.rnn.embedding = covering.rnn.hidden = 12;
  covering.rnn.coverage = true;
  for (const TextModel& model : {small_transformer_model(), small_model(covering)}) {
    const Reading reading = given_reading(model, "abcd", "");
    const auto layers = layers_of(model.model->attention_layers(), AttentionPart::kCross);
    StepRows rows(model.model->attention_layers(), reading.source.size());
    std::vector<std::vector<float>> looked;
    std::vector<size_t> best;
    BeamTree tree(1);
    tree.on_step_call([&](const BeamTree::Step& step) {
      looked.push_back(rows.finish_step(step.best_parent));
      best.push_back(step.best);
    });
    SearchConfig config{.beam = 4, .max_length = 6};
    config.observer = &tree;
    search(*model.model, one_sequence(reading.source), config);
    ASSERT_GE(looked.size(), 4u);
    for (size_t t = 0; t < looked.size(); ++t) {
      Reading written = reading;
      written.target = tree.tokens(tree.node(best[t]).parent);  // and the row of what comes next
      ASSERT_EQ(written.target.size(), t);
      const std::vector<Tensor> maps = mean_maps(model, written, layers);
      for (size_t s = 0; s < reading.source.size(); ++s) {
        float mean = 0;
        for (const Tensor& map : maps) {
          mean += map.data()[t * map.stride() + s] / static_cast<float>(maps.size());
        }
        EXPECT_NEAR(looked[t][s], mean, 1e-5f) << name_of(model.config.kind) << " " << t;
      }
    }
  }
}

}  // namespace
}  // namespace attend
