// A search, watched.
#include "attend/inspect/beam_tree.h"

#include <gtest/gtest.h>

#include "attend/inspect/step_weights.h"
#include "tests/decode/toy.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

const int32_t kEndToken = SpecialTokens().end;

Batch one_source() { return {"source", one_sequence(std::vector<int32_t>{3, 4, 2})}; }

std::vector<Hypothesis> found(const Generator& model, const SearchConfig& config,
                              BeamTree* tree = nullptr, const Prefixes& prefixes = {}) {
  SearchRuntime runtime;
  runtime.observer = tree;
  runtime.prefixes = prefixes;
  return search(model, one_source(), config, runtime).front();
}

TEST(BeamTree, WatchingChangesNothing) {
  const ToyGenerator model(9, 5);
  const SearchConfig config{.beam = 3, .n_best = 3, .max_length = 6};
  const auto alone = found(model, config);
  BeamTree tree(8, kEndToken);
  const auto watched = found(model, config, &tree);
  ASSERT_EQ(alone.size(), watched.size());
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(alone[i].tokens, watched[i].tokens);
    EXPECT_EQ(alone[i].score, watched[i].score);
  }
}

TEST(BeamTree, HasTheWayToEveryHypothesis) {
  const ToyGenerator model(9, 5);
  BeamTree tree(2, kEndToken);
  const SearchConfig config{.beam = 3, .n_best = 3, .max_length = 6};
  for (const Hypothesis& h : found(model, config, &tree)) {
    const std::vector<size_t> path = tree.path(h);
    ASSERT_EQ(path.size(), h.log_probabilities.size());
    double total = 0;
    size_t parent = 0;
    for (size_t i = 0; i < path.size(); ++i) {
      const BeamNode& node = tree.node(path[i]);
      total += double{h.log_probabilities[i]};
      EXPECT_TRUE(node.kept);
      EXPECT_EQ(node.parent, parent);
      EXPECT_EQ(node.token, i < h.tokens.size() ? h.tokens[i] : kEndToken);
      EXPECT_NEAR(node.total, total, 1e-6);
      parent = path[i];
    }
    EXPECT_EQ(tree.tokens(path.back()), h.tokens);
  }
}

TEST(BeamTree, ShowsWhatWasPruned) {
  const ToyGenerator model(9, 5);
  std::vector<BeamTree::Step> steps;
  BeamTree tree(4, kEndToken);
  tree.on_step_call([&](const BeamTree::Step& step) { steps.push_back(step); });
  found(model, {.beam = 1, .max_length = 5}, &tree);
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
  const SearchConfig config{.beam = 3, .n_best = 3, .max_length = 6};
  const Prefixes prefix = {{6, 3}};
  const auto alone = found(model, config, nullptr, prefix);
  BeamTree tree(4, kEndToken);
  const auto watched = found(model, config, &tree, prefix);
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
TEST(StepWeights, AreTheRowsOfTheMap) {
  ModelConfig covering = ModelConfig::of_preset("bahdanau");
  auto& rnn = covering.settings.as<RnnConfig>();
  rnn.embedding = rnn.hidden = 12;
  rnn.coverage = true;
  for (const TextModel& model :
       {small_transformer_model(), small_model(covering), small_language_model()}) {
    const Trace trace = given_trace(
        model, TraceTexts(model.read() ? TraceTexts{{"source", "abcd"}} : TraceTexts()));
    const SequencePair pair = chosen_pair(trace.layers);
    StepWeights weights(trace, pair);
    std::vector<std::vector<float>> looked;
    std::vector<size_t> best;
    SearchRuntime runtime = search_runtime(model);
    BeamTree tree(1, runtime.special.end);
    tree.on_step_call([&](const BeamTree::Step& step) {
      looked.push_back(weights.finish_step(step.best_parent));
      best.push_back(step.best);
    });
    runtime.observer = &tree;
    search(model.generator(), inputs_of(trace), SearchConfig{.beam = 4, .max_length = 6}, runtime);
    ASSERT_GE(looked.size(), 4u);
    for (size_t t = 0; t < looked.size(); ++t) {
      // What was written before, and the row of what comes next.
      const Trace written = with_output(model, trace, tree.tokens(tree.node(best[t]).parent));
      ASSERT_EQ(written.output().size(), t);
      const Tensor mean = mean_map(model, written, pair);
      ASSERT_EQ(looked[t].size(), mean.width()) << model.config.kind.name << " " << t;
      for (size_t s = 0; s < looked[t].size(); ++s) {
        EXPECT_NEAR(looked[t][s], mean.data()[t * mean.stride() + s], 1e-5f)
            << model.config.kind.name << " " << t;
      }
    }
  }
}

}  // namespace
}  // namespace attend
