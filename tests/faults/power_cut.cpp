// The power is cut after each call of a run, and whatever may then be on the disk is gone on with:
// checkpoints that were written load, nothing begins anew by mistake, and the end is the same.
#include <gtest/gtest.h>

#include <set>

#include "attend/base/hash.h"
#include "tests/faults/process.h"
#include "tests/faults/simulated_disk.h"
#include "tests/faults/tiny_run.h"
#include "tests/files.h"

namespace attend::faults {
namespace {

uint64_t fingerprint(const Tree& tree) {
  Hash hash;
  for (const auto& [path, text] : tree) {
    hash.add(path + (text ? "\n" : "/\n"));
    hash.add(text.value_or(""));
    hash.add("\n");
  }
  return hash.value();
}

// The step that a line of the log speaks of: earlier ones have been trained, and their checkpoints
// written.
int64_t logged_step(const TracedCall& call) {
  const std::string key = "{\"step\":";
  if (call.call != Call::kWrite || !call.data.starts_with(key)) return 0;
  return std::stoll(call.data.substr(key.size()));
}

class PowerCut : public DirectoryTest {
 protected:
  // Trains what is in work_ to its end, and then from each moment of that once more.
  void expect_survives(const RunConfig& config, int64_t written) {
    const auto command = train_command(config);
    const fs::path file = directory_ / "trace";
    SimulatedDisk disk(work_);
    const Ended ended = run_attend(command, {.root = work_, .trace = file});
    ASSERT_EQ(ended.code, 0) << ended.said;
    const auto expected = trained(config.out);
    std::set<uint64_t> seen;
    size_t calls = 0, states = 0;
    for (const TracedCall& call : read_trace(file)) {
      disk.apply(call);
      ++calls;
      if (call.failed || call.call == Call::kRead) continue;
      const int64_t step = logged_step(call) - 1;
      written = std::max(written, step - step % config.training.save_every);
      for (const Tree& tree : disk.after_power_cut()) {
        // What has been gone on with from an earlier moment, and what had been written then.
        if (!seen.insert(fingerprint(tree) ^ static_cast<uint64_t>(written)).second) continue;
        ++states;
        if (!everything() && states % kEvery != 0) continue;
        materialize(tree, work_);
        SCOPED_TRACE(fmt::format("call {} ({} {}), checkpoint {}", calls,
                                 kCallNames[static_cast<size_t>(call.call)], call.path, written));
        expect_goes_on(config, written, expected);
        if (HasFailure()) return;
      }
    }
    fmt::print("{} calls, {} states of the disk\n", calls, states);
    EXPECT_GT(states, 100u);
  }

  const fs::path work_ = directory_ / "work";

 private:
  static constexpr size_t kEvery = 8;  // a sample of the states

  // The command, and not the library: under the shim nothing waits for a real disk.
  void expect_goes_on(const RunConfig& config, int64_t written,
                      const std::vector<std::string>& expected) {
    const auto newest = latest_checkpoint(config.out / "checkpoints");
    EXPECT_GE(newest ? newest->step : 0, written);
    const Ended ended = run_attend(train_command(config), {.root = work_});
    ASSERT_EQ(ended.code, 0) << ended.said;
    const std::string resumed = "resumed at step ";
    const size_t at = ended.said.find(resumed);
    const int64_t first =
        at == std::string::npos ? 0 : std::stoll(ended.said.substr(at + resumed.size()));
    EXPECT_GE(first, written) << ended.said;
    EXPECT_TRUE(trained(config.out) == expected) << ended.said;
  }
};

TEST_F(PowerCut, ANewRun) {
  fs::create_directory(work_);
  expect_survives(tiny_run(work_), 0);
}

TEST_F(PowerCut, AResumedRun) {
  fs::create_directory(work_);
  RunConfig config = tiny_run(work_);
  config.training.steps = 2;
  run(config);
  config.training.steps = 4;
  expect_survives(config, 2);
}

// A checkpoint is replaced: that of a step whose validation was stopped.
TEST_F(PowerCut, AStepThatIsReplaced) {
  fs::create_directory(work_);
  RunConfig config = tiny_run(work_);
  config.training.steps = 2;
  std::atomic<bool> stop{false};
  StopAt observer(2, stop);
  ASSERT_EQ(run_training(config, observer, stop).end, TrainingEnd::kStopped);
  expect_survives(config, 2);
}

}  // namespace
}  // namespace attend::faults
