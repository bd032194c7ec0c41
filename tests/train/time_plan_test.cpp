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

}  // namespace
}  // namespace attend
