#include "cli/interrupt.h"

#include <gtest/gtest.h>

namespace attend::cli {
namespace {

TEST(Interrupt, FirstSignalStopsAndASecondEndsTheProgram) {
  EXPECT_EQ(answer_to_signal(1, 0), SignalAnswer::kStop);
  EXPECT_EQ(answer_to_signal(2, 1.5), SignalAnswer::kEnd);
}

TEST(Interrupt, SecondSignalWithinAMomentIsExplainedAndAThirdAlwaysEnds) {
  EXPECT_EQ(answer_to_signal(2, 0.2), SignalAnswer::kExplain);
  EXPECT_EQ(answer_to_signal(3, 0.3), SignalAnswer::kEnd);
  EXPECT_EQ(answer_to_signal(3, 60), SignalAnswer::kEnd);
}

}  // namespace
}  // namespace attend::cli
