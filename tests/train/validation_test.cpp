#include "attend/train/validation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/io/config.h"
#include "attend/train/prepared.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

TEST(Validation, NoLimitIsAllSentences) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.validation.metric = Metric::kChrf;
  std::vector<double> scores;
  for (const size_t sentences : {0, 20, 3}) {
    config.validation.sentences = sentences;
    config.out = directory.path() / fmt::format("model{}", sentences);
    scores.push_back(run(config).best_score);
  }
  EXPECT_GT(scores[0], 0.0);
  EXPECT_EQ(scores[0], scores[1]);
  EXPECT_NE(scores[0], scores[2]);
}

TEST(Validation, NaNIsNeverBest) {
  TrainingState state;
  for (const Metric metric : {Metric::kLoss, Metric::kBleu}) {
    EXPECT_FALSE(is_best(metric, NAN, state));
    EXPECT_TRUE(is_best(metric, 0.5, state));
  }
  state.best_step = 10;
  state.best_score = NAN;  // of a run that an earlier version began
  EXPECT_TRUE(is_best(Metric::kLoss, 0.5, state));
  EXPECT_FALSE(is_best(Metric::kLoss, NAN, state));
  state.best_score = 0.5;
  EXPECT_FALSE(is_best(Metric::kLoss, NAN, state));
  EXPECT_FALSE(is_best(Metric::kLoss, 0.6, state));
  EXPECT_TRUE(is_best(Metric::kLoss, 0.4, state));
  EXPECT_TRUE(is_best(Metric::kBleu, 0.6, state));
}

TEST(Validation, EqualScoresAreDecidedByTheLoss) {
  TrainingState state;
  EXPECT_FALSE(breaks_tie(0, 0.1, state));
  state.best_step = 5, state.best_score = 100, state.best_loss = 0.2;
  EXPECT_TRUE(breaks_tie(100, 0.1, state));
  EXPECT_FALSE(breaks_tie(100, 0.2, state));
  EXPECT_FALSE(breaks_tie(99, 0.1, state));
  state.best_loss = 0;  // of a checkpoint that did not know it
  EXPECT_FALSE(breaks_tie(100, 0.1, state));
}

TEST(Validation, LinesPastTheLearnedPositionsAreLeftOut) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  transformer(config).positions = PositionScheme::kLearned;
  transformer(config).max_length = 6;
  config.training.steps = 8;
  std::ofstream(config.data.source.front(), std::ios::app) << "abcdea\n";
  std::ofstream(config.data.target.front(), std::ios::app) << "a\n";
  std::ofstream(config.data.valid_source.front(), std::ios::app) << "abcdea\nabcde\nabcdeabcde\n";
  std::ofstream(config.data.valid_target.front(), std::ios::app) << "a\na\na\n";
  Messages messages;
  EXPECT_EQ(run_training(config, messages, false).best_step, 8);
  EXPECT_TRUE(messages.has("data: at most 5 source tokens, not 256")) << messages.text;
  EXPECT_TRUE(messages.has("data: 200 pairs, ")) << messages.text;
  EXPECT_TRUE(messages.has("validation: 21 pairs, ")) << messages.text;
  EXPECT_TRUE(messages.has("validation: 2 lines have more tokens than the model has positions"))
      << messages.text;
}

TEST(Validation, ScoresOfOneFingerprintCanBeCompared) {
  const TemporaryDirectory directory;
  const RunConfig config = small_run(directory.path());
  const auto fingerprint = [&](const RunConfig& changed) {
    const TemporaryDirectory files;
    TrainingObserver nobody;
    return Prepared(changed, {files.path()}, std::nullopt, {}, nobody).validator->fingerprint();
  };
  const uint64_t before = fingerprint(config);
  const struct {
    const char *path, *value;
    bool same;
  } cases[] = {
      {"validation.every", "3", true},         {"validation.patience", "3", true},
      {"validation.sentences", "0", true},     {"validation.sentences", "5", false},
      {"validation.lowercase", "true", false}, {"validation.metric", "loss", false},
      {"validation.metric", "chrf", false},    {"search.beam", "3", false},
      {"training.label_smoothing", "0", true},
  };
  for (const auto& [path, value, same] : cases) {
    RunConfig changed = config;
    set_flag(changed, path, value);
    EXPECT_EQ(fingerprint(changed) == before, same) << path;
  }
  RunConfig loss = config;
  loss.validation.metric = Metric::kLoss;
  const uint64_t of_loss = fingerprint(loss);
  std::ofstream(config.data.valid_source.front(), std::ios::app) << "abc\n";
  std::ofstream(config.data.valid_target.front(), std::ios::app) << "cba\n";
  EXPECT_NE(fingerprint(config), before);
  EXPECT_NE(fingerprint(loss), of_loss);
}

}  // namespace
}  // namespace attend
