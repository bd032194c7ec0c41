#include "attend/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/names.h"

namespace attend {
namespace {

TEST(Schedule, RisesThenFallsAsItsKindSays) {
  const auto at = [](ScheduleKind kind, int64_t step, double floor = 0.0) {
    return schedule_factor({kind, 100, floor}, step, 1100);
  };
  for (const ScheduleKind kind : {ScheduleKind::kConstant, ScheduleKind::kInverseSqrt,
                                  ScheduleKind::kCosine, ScheduleKind::kLinear}) {
    EXPECT_DOUBLE_EQ(at(kind, 1), 0.01);
    EXPECT_DOUBLE_EQ(at(kind, 50), 0.5);
    EXPECT_DOUBLE_EQ(at(kind, 100), 1.0);
  }
  EXPECT_DOUBLE_EQ(at(ScheduleKind::kConstant, 900), 1.0);
  EXPECT_DOUBLE_EQ(at(ScheduleKind::kInverseSqrt, 400), 0.5);
  EXPECT_DOUBLE_EQ(at(ScheduleKind::kLinear, 600), 0.5);
  EXPECT_DOUBLE_EQ(at(ScheduleKind::kLinear, 350, 0.2), 0.8);
  EXPECT_NEAR(at(ScheduleKind::kCosine, 600), 0.5, 1e-12);
  EXPECT_NEAR(at(ScheduleKind::kCosine, 350), (1 + std::sqrt(0.5)) / 2, 1e-12);
  EXPECT_NEAR(at(ScheduleKind::kCosine, 1100), 0.0, 1e-12);
  EXPECT_NEAR(at(ScheduleKind::kCosine, 5000, 0.1), 0.1, 1e-12);
}

TEST(Schedule, WithoutWarmUpStartsAtFullRate) {
  EXPECT_DOUBLE_EQ(schedule_factor({ScheduleKind::kLinear, 0, 0.0}, 1, 10), 0.9);
  EXPECT_DOUBLE_EQ(schedule_factor({ScheduleKind::kInverseSqrt, 0, 0.0}, 4, 10), 0.5);
}

TEST(Schedule, TheUsualWarmUpIsATenthOfAFewSteps) {
  EXPECT_EQ(warmup_steps({}, 100), 10);
  EXPECT_EQ(warmup_steps({}, 20000), 1000);
  EXPECT_EQ(warmup_steps({.warmup = 7}, 100), 7);
  EXPECT_DOUBLE_EQ(schedule_factor({}, 5, 100), 0.5);
}

TEST(Schedule, NamesAreRead) {
  expect_names<ScheduleKind>({"constant", "inverse_sqrt", "cosine", "linear"});
}

}  // namespace
}  // namespace attend
