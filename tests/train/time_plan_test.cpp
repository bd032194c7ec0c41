#include "attend/train/time_plan.h"

#include <gtest/gtest.h>

#include "tests/errors.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

TEST(TimePlan, IsStoredWithTheRunAndStands) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.time = {8};
  config.validation.patience = 3;
  config.training.save_every = config.training.report_every = 100'000;
  const RunResult result = run(config);
  EXPECT_EQ(result.end, TrainingEnd::kAllSteps);
  RunConfig stored;
  read_run_config(stored, ModelDirectory{config.out}.training());
  EXPECT_EQ(stored.training.steps, result.step);
  EXPECT_GE(result.step, 20);
  EXPECT_EQ(stored.validation.patience, 0u);  // the schedule is completed
  EXPECT_EQ(stored.time.seconds, 8);
  // The same settings again: nothing is planned anew, and nothing is left to do.
  const RunResult again = run(stored);
  EXPECT_EQ(again.first_step, result.step);
  EXPECT_EQ(again.step, result.step);
}

TEST(TimePlan, RefusesATimeThatIsTooShort) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.time = {1};
  expect_error<ConfigError>([&] { run(config); }, "is too little time");
}

TEST(TimeKeeper, LeavesAPlanThatEndsInTime) {
  TimeKeeper keeper(100);
  EXPECT_EQ(keeper.revised(0, 970, 2), std::nullopt);
  for (int64_t step = 100; step <= 970; step += 100) {
    EXPECT_EQ(keeper.revised(step, 970, 2 + 0.098 * static_cast<double>(step)), std::nullopt);
  }
  EXPECT_EQ(TimeKeeper().revised(10, 1000, 1e6), std::nullopt);
}

// A machine whose speed changes: each plan follows from what was seen, and the last ends in time.
TEST(TimeKeeper, EndsInTimeOnAMachineThatSlowsDownOrSpeedsUp) {
  for (const double factor : {0.5, 0.8, 1.3, 2.0}) {
    TimeKeeper keeper(100);
    int64_t steps = 900, revisions = 0;
    double seconds = 5;
    keeper.revised(0, steps, seconds);
    for (int64_t step = 1; step <= steps; ++step) {
      seconds += 0.1 * (step > 200 ? factor : 1.0);
      if (step % 45 != 0) continue;
      const auto revised = keeper.revised(step, steps, seconds);
      if (!revised) continue;
      EXPECT_GT(*revised, step);
      steps = *revised;
      ++revisions;
    }
    EXPECT_GE(revisions, 1) << factor;
    EXPECT_LT(revisions, 12) << factor;
    EXPECT_NEAR(seconds, 97.5, 4) << factor;
  }
}

TEST(TimeKeeper, EndsSoonWhereTheTimeIsOver) {
  TimeKeeper keeper(10);
  keeper.revised(0, 100, 1);
  EXPECT_EQ(keeper.revised(10, 100, 50), 11);
}

}  // namespace
}  // namespace attend
