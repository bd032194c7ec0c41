// A run that is killed and started again ends with the weights of one that was not, on file systems
// that can exchange two names and on those that cannot.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "attend/base/rng.h"
#include "tests/faults/process.h"
#include "tests/faults/tiny_run.h"
#include "tests/files.h"

namespace attend::faults {
namespace {

using Clock = std::chrono::steady_clock;

class Kills : public DirectoryTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { fs::create_directory(work_); }
  std::string exchange() const { return GetParam(); }

  // Takes what work_ holds now for the state before the run.
  void expect_survives(const RunConfig& config) {
    const auto command = train_command(config);
    const fs::path file = directory_ / "trace", old = directory_ / "old";
    fs::copy(work_, old, fs::copy_options::recursive);
    const Ended whole = run_attend(command, {.root = work_, .trace = file});
    ASSERT_EQ(whole.code, 0) << whole.said;
    const auto expected = trained(config.out);
    const size_t calls = read_trace(file).size(), every = everything() ? 1 : calls / 30;
    size_t kills = 0;
    for (size_t nth = 1; nth <= calls; nth += every, ++kills) {
      SCOPED_TRACE(nth);
      fs::remove_all(work_);
      fs::copy(old, work_, fs::copy_options::recursive);
      const std::string plan = fmt::format("any {} kill;{}", nth, exchange());
      EXPECT_EQ(run_attend(command, {.root = work_, .plan = plan}).code, 128 + SIGKILL);
      const Ended again = run_attend(command, {.root = work_, .plan = exchange()});
      ASSERT_EQ(again.code, 0) << again.said;
      ASSERT_TRUE(trained(config.out) == expected) << again.said;
    }
    fmt::print("{} kills\n", kills);
  }

  const fs::path work_ = directory_ / "work";
};

TEST_P(Kills, BetweenAnyTwoCalls) { expect_survives(tiny_run(work_)); }

// The checkpoint of a step whose validation was stopped gives way to one that has its score.
TEST_P(Kills, BetweenAnyTwoCallsWhereAStepIsReplaced) {
  RunConfig config = tiny_run(work_);
  config.training.steps = 2;
  std::atomic<bool> stop{false};
  StopAt observer(2, stop);
  ASSERT_EQ(run_training(config, observer, stop).end, TrainingEnd::kStopped);
  expect_survives(config);
}

// The clock decides when, and nothing else depends on it.
TEST_P(Kills, AtRandomMoments) {
  RunConfig config = tiny_run(work_);
  config.training.steps = 20;
  config.training.save_every = config.validation.every = 1;
  const auto command = train_command(config);
  const auto start = Clock::now();
  const Ended whole = run_attend(command, {.root = work_});
  ASSERT_EQ(whole.code, 0) << whole.said;
  const std::chrono::duration<double, std::micro> all = Clock::now() - start;
  const auto expected = trained(config.out);
  const RandomStream random(7, 0);
  const uint64_t rounds = everything() ? 100 : 4;
  size_t kills = 0, same = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    fs::remove_all(config.out);
    for (uint64_t i = 0; i < 3; ++i) {
      Process process(command, {.root = work_, .plan = exchange()});
      const auto limit = static_cast<uint32_t>(std::max(1.0, all.count()));
      ::usleep(static_cast<useconds_t>(random.below(3 * round + i, limit)));
      process.kill();
      kills += process.wait().code == 128 + SIGKILL ? 1 : 0;
    }
    const Ended again = run_attend(command, {.root = work_, .plan = exchange()});
    ASSERT_EQ(again.code, 0) << again.said;
    ASSERT_TRUE(trained(config.out) == expected) << round;
    ++same;
  }
  fmt::print("{} kills in {} runs; {} of {} ended with the same weights\n", kills, rounds, same,
             rounds);
}

std::string name_of(const testing::TestParamInfo<const char*>& test) {
  return *test.param == '\0' ? "WithExchange" : "WithoutExchange";
}

INSTANTIATE_TEST_SUITE_P(, Kills, testing::Values("", "exchange 1+ EINVAL"), name_of);

}  // namespace
}  // namespace attend::faults
