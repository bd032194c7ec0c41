// What a run does when it goes on: after a stop at any moment, after its end, after a failure.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <thread>

#include "attend/base/parallel.h"
#include "attend/io/config.h"
#include "attend/io/safetensors.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

// The log without what a clock measured.
std::string log_of(const fs::path& model) {
  std::istringstream lines(contents(model / "log.jsonl"));
  std::string text, line;
  while (std::getline(lines, line)) {
    const size_t begin = line.find("\"tokens_per_second\"");
    if (begin != std::string::npos) line.erase(begin, line.find(',', begin) - begin);
    text += line + "\n";
  }
  return text;
}

// Stops while the n-th validation is under way: it is asked for right after a report.
class StopInValidation : public TrainingObserver {
 public:
  StopInValidation(int64_t step, std::atomic<bool>& stop) : step_(step), stop_(stop) {}
  void on_report(const TrainingReport& report) override {
    if (report.step == step_) stop_ = true;
  }
  void on_validation(const TrainingReport& report, const ValidationScore&, bool) override {
    validated.push_back(report.step);
  }
  std::vector<int64_t> validated;

 private:
  int64_t step_;
  std::atomic<bool>& stop_;
};

TEST(ResumedRun, AValidationThatIsStoppedIsDoneAgain) {
  for (const Metric metric : {Metric::kLoss, Metric::kAccuracy}) {
    const TemporaryDirectory whole, parts;
    RunConfig config = small_run(whole.path());
    config.training.report_every = 4;
    config.validation.metric = metric;
    run(config);
    RunConfig stopped = small_run(parts.path());
    stopped.training.report_every = 4;
    stopped.validation.metric = metric;
    for (const int64_t step : {8, 24}) {
      std::atomic<bool> stop{false};
      StopInValidation observer(step, stop);
      const RunResult result = run_training(stopped, observer, stop);
      EXPECT_EQ(result.end, TrainingEnd::kStopped);
      EXPECT_EQ(result.step, step);
      const std::vector<int64_t> done =
          step == 8 ? std::vector<int64_t>{} : std::vector<int64_t>{8, 16};
      EXPECT_EQ(observer.validated, done);
    }
    run(stopped);
    EXPECT_EQ(outcome(stopped.out), outcome(config.out));
    EXPECT_EQ(log_of(stopped.out), log_of(config.out));
  }
}

TEST(ResumedRun, WhatIsDoneStaysDone) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.optimizer.rate = 1e-30;
  config.training.average = 0;
  config.validation.every = 2;
  config.validation.patience = 3;
  const RunResult first = run(config);
  EXPECT_EQ(first.end, TrainingEnd::kNoProgress);
  const auto before = outcome(config.out);
  const RunResult second = run(config);
  EXPECT_EQ(second.end, TrainingEnd::kNoProgress);
  EXPECT_EQ(second.step, first.step);
  EXPECT_EQ(second.first_step, first.step);
  EXPECT_EQ(outcome(config.out), before);

  config.validation.patience = 0;
  run(config);
  config.training.steps = 10;
  EXPECT_EQ(run(config).step, 24);
  RunConfig used;
  read_config(used, config.out / "attend.yaml");
  EXPECT_EQ(used.training.steps, 24);
}

TEST(ResumedRun, TheLastStepIsReportedAndALongerRunKnowsNothingOfIt) {
  const TemporaryDirectory whole, parts;
  RunConfig config = small_run(whole.path());
  config.training.report_every = 50;
  config.training.steps = 10;
  run(config);
  const std::string log = log_of(config.out);
  EXPECT_NE(log.find("\"step\":10,\"epoch\""), std::string::npos) << log;

  RunConfig longer = small_run(parts.path());
  longer.training.report_every = 7;
  for (const int64_t steps : {10, 16, 24}) {
    longer.training.steps = steps;
    run(longer);
  }
  const std::string parts_log = log_of(longer.out);
  longer.out = parts.path() / "whole";
  run(longer);
  // Beside validations at the ends of the parts.
  EXPECT_EQ(parts_log.find("\"early\""), parts_log.rfind("\"early\""));
  const auto reports = [](const std::string& text) {
    std::istringstream lines(text);
    std::string kept, line;
    while (std::getline(lines, line)) {
      if (line.find("valid_loss") == std::string::npos) kept += line + "\n";
    }
    return kept;
  };
  EXPECT_EQ(reports(parts_log), reports(log_of(longer.out)));
}

TEST(ResumedRun, WeightsThatGiveNoNumbersAreNotSaved) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.average = 0;
  config.training.steps = 10;
  run(config);
  const auto before = outcome(config.out);
  config.training.steps = 20;
  config.optimizer.rate = 1e30;
  config.optimizer.clip_norm = 0;
  config.training.save_every = 1;
  config.validation.every = 100;
  expect_error<DataError>([&] { run(config); }, "optimizer.clip_norm 1");
  EXPECT_EQ(outcome(config.out), before);
  config.validation.every = 1;
  expect_error<DataError>([&] { run(config); }, "not finite");
  EXPECT_EQ(outcome(config.out), before);
  config.optimizer.clip_norm = 1;
  const std::string message = message_of<DataError>([&] { run(config); });
  EXPECT_NE(message.find("lower optimizer.rate"), std::string::npos) << message;
  EXPECT_EQ(message.find("clip_norm"), std::string::npos) << message;
  EXPECT_EQ(outcome(config.out), before);
}

TEST(ResumedRun, ACheckpointThatGivesNoNumbersIsNamed) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 10;
  run(config);
  const auto last = latest_checkpoint(config.out / "checkpoints");
  if (!last) FAIL() << "no checkpoint";
  std::vector<NamedTensor> tensors;
  const std::string state = contents(last->path / "state.json");
  {
    const SafetensorsFile file(last->path / kTrainingTensors);
    for (const auto& entry : file.entries()) tensors.push_back({entry.name, file.read(entry)});
  }
  for (const NamedTensor& t : tensors) {
    if (t.name.starts_with(kWeightsPrefix)) t.tensor.data()[0] = NAN;
  }
  write_checkpoint(config.out / "checkpoints", 10, [&](const fs::path& path) {
    write_safetensors(path / kTrainingTensors, tensors);
    replace_file(path / "state.json", state);
  });
  config.training.steps = 20;
  const std::string message = message_of<DataError>([&] { run(config); });
  EXPECT_NE(message.find("step-10: remove that directory"), std::string::npos) << message;
}

TEST(ResumedRun, ChangesAreSaid) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 20;
  run(config);
  config.training.steps = 24;
  transformer(config).dropout = 0.3f;
  write_pairs(config.data.source, config.data.target, 40, 9);  // fewer batches, too
  Messages messages;
  EXPECT_EQ(run_training(config, messages, false).step, 24);
  EXPECT_TRUE(messages.has("now model.transformer.dropout = 0.3 (was 0.1)")) << messages.text;
  EXPECT_TRUE(messages.has("data: the text has changed since the last checkpoint")) << messages.text;
  EXPECT_FALSE(messages.has("schedule.warmup")) << messages.text;
}

TEST(ResumedRun, WhatIsJudgedInAnotherWayHasNoBestYet) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 16;
  config.training.keep = 9;
  run(config);
  const fs::path checkpoint = config.out / "checkpoints" / "step-16";
  const fs::path copy = directory.path() / "step-16";
  fs::copy(checkpoint, copy);
  config.training.steps = 24;
  config.validation.metric = Metric::kLoss;
  Messages messages;
  RunResult result = run_training(config, messages, true);
  EXPECT_EQ(result.best_step, 0);
  EXPECT_TRUE(messages.has("now validation.metric = loss (was accuracy)")) << messages.text;
  EXPECT_TRUE(messages.has("Validation settings changed: the best score")) << messages.text;
  // As if it had been killed before it saved.
  fs::remove_all(checkpoint);
  fs::rename(copy, checkpoint);
  messages.text.clear();
  result = run_training(config, messages, false);
  EXPECT_TRUE(messages.has("Validation settings changed: the best score")) << messages.text;
  EXPECT_EQ(result.best_step, 24);
  EXPECT_GT(result.best_score, 0.5);
  messages.text.clear();
  config.training.steps = 25;
  config.validation.patience = 9;
  run_training(config, messages, false);
  EXPECT_FALSE(messages.has("Validation settings changed")) << messages.text;
  config.training.steps = 26;
  config.data.valid_source = config.data.valid_target = "";
  EXPECT_EQ(run(config).best_step, 0);
}

TEST(ResumedRun, WhatACheckpointHasNoTensorsOfIsFixed) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.report_every = 7;  // the last report is early
  config.training.steps = 10;
  run(config);
  config.training.steps = 12;
  const std::string log = contents(config.out / "log.jsonl");
  const auto refused = [&](const char* path, const char* value, const std::string& message) {
    RunConfig changed = config;
    set_flag(changed, path, value);
    expect_error<ConfigError>([&] { run(changed); }, message);
    EXPECT_EQ(contents(config.out / "log.jsonl"), log);
  };
  refused("training.average", "0", "trained with training.average = 0.9, not 0;");
  refused("training.shards", "2", "trained with training.shards = 1, not 2;");
  refused("training.frozen", "encoder", "trained with training.frozen = , not encoder;");
  refused("optimizer.kind", "sgd", "trained with optimizer.kind = adamw, not sgd;");
  for (const auto& [path, value] : {std::pair("training.average", "0.99"),
                                    {"optimizer.kind", "adam"},
                                    {"training.objective", "teacher_forcing"},
                                    {"optimizer.momentum", "0.5"}}) {
    set_flag(config, path, value);
    EXPECT_EQ(run(config).step, config.training.steps) << path;
    ++config.training.steps;
  }

  config = small_run(directory.path());
  config.out = directory.path() / "sgd";
  config.optimizer.kind = OptimizerKind::kSgd;
  config.training.steps = 2;
  run(config);
  config.optimizer.momentum = 0.5;
  expect_error<ConfigError>([&] { run(config); }, "trained with optimizer.momentum = 0, not 0.5");
}

TEST(ResumedRun, TheLogIsAsItWasWhereNothingIsResumed) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.report_every = 7;
  config.training.steps = 10;
  run(config);
  const std::string log = contents(config.out / "log.jsonl");
  fs::remove(config.out / "attend.yaml");  // nobody knows what the checkpoint has
  config.training.average = 0;
  config.training.steps = 20;
  expect_error<FormatError>([&] { run(config); }, "does not fit the model");
  EXPECT_EQ(contents(config.out / "log.jsonl"), log);
}

TEST(ResumedRun, APlanCountsTheStepsThatAreLeft) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 1000;
  const auto tokens = [](const RunPlan& plan) { return plan.seconds * plan.tokens_per_second; };
  const double all = tokens(plan(config));
  config.training.steps = 10;
  run(config);
  config.training.steps = 20;
  const RunPlan planned = plan(config);
  EXPECT_EQ(planned.steps_done, 10);
  EXPECT_NEAR(tokens(planned) / all, 10.0 / 1000.0, 1e-9);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// kB of a line of /proc/self/status.
size_t status_kb(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  size_t value = 0;
  while (status >> word) {
    if (word == name + ":" && status >> value) return value;
  }
  return 0;
}

TEST(ResumedRun, TheProcessKeepsToTheMemory) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  write_pairs(config.data.source, config.data.target, 20000, 3);
  config.data.valid_source = config.data.valid_target = "";
  config.validation.metric = Metric::kLoss;
  transformer(config).width = 384;
  transformer(config).feed_forward = 1536;
  config.training.average = 0;
  config.training.steps = 2;
  config.memory.bytes = size_t{128} << 20;
  const pid_t child = fork();
  if (child == 0) {
    set_thread_count(1);
    const size_t before = status_kb("RssAnon");
    std::atomic<size_t> most{0};
    std::thread([&most] {
      for (;; usleep(500)) most = std::max<size_t>(most, status_kb("RssAnon"));
    }).detach();
    try {
      run(config);
    } catch (const Error&) {
      _exit(255);
    }
    const size_t taken = (most - before) >> 10;
    _exit(taken <= (config.memory.bytes >> 20) + 24 ? 0 : static_cast<int>(taken));
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "MB, where 128 were allowed";
}
#endif

}  // namespace
}  // namespace attend
