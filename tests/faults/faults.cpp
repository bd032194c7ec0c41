// Every call that a command makes on its files fails, one after the other: afterwards the old state
// is there or the new one, whole; the exit code and a message say which; and the same command,
// given again, ends as if nothing had happened.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "attend/train/average.h"
#include "tests/faults/process.h"
#include "tests/faults/tiny_run.h"
#include "tests/files.h"

namespace attend::faults {
namespace {

using Contents = std::vector<std::string>;

// Errors that a call can be given; "+" is a disk that stays full.
const std::vector<std::string>& errors_of(size_t call) {
  static const std::vector<std::string> kErrors[] = {
      {"EIO", "ENOSPC", "EINTR"},           // open
      {"EIO", "EINTR", "short"},            // read
      {"ENOSPC", "EIO", "EINTR", "short"},  // write
      {"EIO"},                              // truncate
      {"EIO", "ENOSPC", "EINTR"},           // sync
      {"EIO", "ENOSPC", "EINTR"},           // close
      {"EIO", "ENOSPC"},                    // rename
      {"ENOSPC", "EIO"},                    // mkdir
      {"EIO"},                              // unlink
      {"EINVAL"},                           // exchange
  };
  return kErrors[call];
}

class Faults : public DirectoryTest {
 protected:
  // Takes what `work_` holds now for the old state.
  void expect_survives(
      const std::vector<std::string>& command, const std::function<Contents()>& result,
      const std::function<void()>& check = [] {}) {
    fs::copy(work_, old_, fs::copy_options::recursive);
    const fs::path file = directory_ / "trace";
    const Ended undisturbed = run_attend(command, {.root = work_, .trace = file});
    ASSERT_EQ(undisturbed.code, 0) << undisturbed.said;
    const Contents expected = result();
    const auto counts = count_calls(read_trace(file));
    ASSERT_GT(counts[static_cast<size_t>(Call::kSync)], 0u) << "is the shim there?";
    size_t runs = 0;
    for (const std::string& plan : plans(counts)) {
      SCOPED_TRACE(plan);
      fs::remove_all(work_);
      fs::copy(old_, work_, fs::copy_options::recursive);
      const Ended ended = run_attend(command, {.root = work_, .plan = plan});
      ++runs;
      EXPECT_TRUE(ended.code == 0 || ended.code == 1) << ended.code << ": " << ended.said;
      check();
      const auto says = [&](const char* part) {
        return ended.said.find(part) != std::string::npos;
      };
      // What evaluate finds is printed also where a note of it cannot be written.
      if (ended.code != 0 || says("could not be saved")) {
        EXPECT_TRUE(says("attend: ")) << ended.said;
        const Ended again = run_attend(command, {.root = work_});
        EXPECT_EQ(again.code, 0) << ended.said << again.said;
      }
      EXPECT_TRUE(result() == expected) << ended.said;
      if (HasFailure()) break;
    }
    fmt::print("{} faults\n", runs);
  }

  const fs::path work_ = directory_ / "work", old_ = directory_ / "old";

 private:
  // All of them, or a sample: the first and last of each kind, and some between.
  static std::vector<std::string> plans(const auto& counts) {
    constexpr size_t kSample = 6;
    std::vector<std::string> all;
    for (size_t call = 0; call < counts.size(); ++call) {
      const std::vector<std::string>& errors = errors_of(call);
      const size_t most = everything() ? counts[call] : std::min(counts[call], kSample);
      for (size_t i = 0; i < most; ++i) {
        const size_t nth = most == 1 ? 1 : 1 + i * (counts[call] - 1) / (most - 1);
        for (size_t j = 0; j < (everything() ? errors.size() : 1); ++j) {
          all.push_back(
              fmt::format("{} {} {}", kCallNames[call], nth, errors[(i + j) % errors.size()]));
        }
        if (call != static_cast<size_t>(Call::kWrite)) continue;
        if (everything() || i % 2 == 0) all.push_back(fmt::format("write {}+ ENOSPC", nth));
      }
    }
    return all;
  }
};

// A run and what a fault may leave of it.
class TrainFaults : public Faults {
 protected:
  void SetUp() override {
    fs::create_directory(work_);
    config_ = tiny_run(work_);
  }
  // Weights of the steps given, of which one may be found.
  void know_weights(const std::vector<int64_t>& steps) {
    for (const int64_t step : steps) {
      RunConfig config = config_;
      config.training.steps = step;
      config.out = directory_ / fmt::format("until-{}", step);
      run(config);
      known_.push_back(contents(config.out / "model.safetensors"));
    }
  }
  void expect_whole(int64_t least) const {
    const ModelDirectory model{config_.out};
    if (fs::exists(model.weights())) {
      EXPECT_TRUE(std::ranges::count(known_, contents(model.weights())) == 1);
    }
    int64_t newest = 0;
    for (const Checkpoint& checkpoint : list_checkpoints(model.checkpoints())) {
      EXPECT_EQ(checkpoint_damage(checkpoint.path), "") << checkpoint.path;
      newest = checkpoint.step;
    }
    EXPECT_GE(newest, least);
  }

  RunConfig config_;
  Contents known_;
};

TEST_F(TrainFaults, ANewRun) {
  know_weights({2, 4});
  expect_survives(
      train_command(config_), [&] { return trained(config_.out); }, [&] { expect_whole(0); });
}

TEST_F(TrainFaults, AResumedRun) {
  know_weights({2, 4});
  config_.training.steps = 2;
  run(config_);
  config_.training.steps = 4;
  expect_survives(
      train_command(config_), [&] { return trained(config_.out); }, [&] { expect_whole(2); });
}

// A validation that was stopped is done again, and the checkpoint of its step replaced.
TEST_F(TrainFaults, AStepThatIsReplaced) {
  know_weights({2});
  config_.training.steps = 2;
  std::atomic<bool> stop{false};
  StopAt observer(2, stop);
  ASSERT_EQ(run_training(config_, observer, stop).end, TrainingEnd::kStopped);
  expect_survives(
      train_command(config_), [&] { return trained(config_.out); }, [&] { expect_whole(2); });
}

TEST_F(TrainFaults, AModelThatIsOverwritten) {
  config_.training.steps = 2;
  know_weights({2, 4});
  fs::create_directory(config_.out);
  for (const char* name : {"config.json", "tokenizer.model"}) {
    fs::copy(directory_ / "until-4" / name, config_.out / name);
  }
  fs::copy(directory_ / "until-4" / "model.safetensors", config_.out / "model.safetensors");
  auto command = train_command(config_);
  command.emplace_back("--overwrite");
  expect_survives(
      command, [&] { return trained(config_.out); }, [&] { expect_whole(0); });
}

// Other commands write one file, or a model into a directory of its own.
class CommandFaults : public Faults {
 protected:
  void SetUp() override {
    fs::create_directory(work_);
    config_ = tiny_run(work_);
    config_.training.keep = 2;
    config_.out = directory_ / "model";
    run(config_);
  }
  std::string model() const { return config_.out.string(); }
  // The old text of a file, or the new one.
  void expect_replaces(const std::vector<std::string>& command, const fs::path& file) {
    const std::string before = contents(file);
    std::string after;
    expect_survives(
        command,
        [&] {
          after = contents(file);
          EXPECT_NE(after, before);
          return Contents{after};
        },
        [&] {
          const std::string found = contents(file);
          EXPECT_TRUE(found == before || found == after) << found;
        });
  }

  RunConfig config_;
};

TEST_F(CommandFaults, Average) {
  const fs::path out = work_ / "mean";
  const auto result = [&] {
    return Contents{contents(out / "config.json"), contents(out / "tokenizer.model"),
                    contents(out / "model.safetensors")};
  };
  expect_survives({"average", model(), "--last", "2", "--out", out.string()}, result, [&] {
    if (!fs::exists(out / "model.safetensors")) return;
    EXPECT_NO_THROW(TextModel::load(out));
  });
}

TEST_F(CommandFaults, AverageOverAnOlderOne) {
  const fs::path out = work_ / "mean";
  average_checkpoints(config_.out, 1, out);
  expect_replaces({"average", model(), "--last", "2", "--out", out.string()},
                  out / "model.safetensors");
}

TEST_F(CommandFaults, TokenizerTrain) {
  write(work_ / "tokenizer", "old");
  expect_replaces({"tokenizer", "train", (work_ / "train.src").string(), "--kind", "character",
                   "--out", (work_ / "tokenizer").string()},
                  work_ / "tokenizer");
}

TEST_F(CommandFaults, Inspect) {
  write(work_ / "map.svg", "old");
  expect_replaces({"inspect", model(), "abc", "--out", (work_ / "map.svg").string()},
                  work_ / "map.svg");
}

TEST_F(CommandFaults, EvaluateRemembersTheBestAlignment) {
  fs::copy(config_.out, work_ / "model", fs::copy_options::recursive);
  const std::string model = (work_ / "model").string();
  write(work_ / "one.src", "abc\n");
  write(work_ / "one.tgt", "cba\n");
  write(work_ / "gold", "0-0\n");
  write(work_ / "model" / "alignment.json", "{\"layer\": \"old\", \"head\": null}\n");
  expect_replaces({"evaluate", model, "--source", (work_ / "one.src").string(), "--target",
                   (work_ / "one.tgt").string(), "--gold", (work_ / "gold").string()},
                  work_ / "model" / "alignment.json");
}

}  // namespace
}  // namespace attend::faults
