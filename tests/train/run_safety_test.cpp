// What a run must not lose: models and checkpoints that are there, other runs, its own last step.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>

#include "attend/io/model_directory.h"
#include "attend/train/run_directory.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

void write(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }

TEST(RunSafety, AModelWithoutCheckpointsIsNotReplaced) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  run(config);
  const auto whole = outcome(config.out);
  fs::remove_all(config.out / "checkpoints");
  config.vocabulary.tokenizer.kind = TokenizerKind::kByte;
  transformer(config).width = 32;
  const auto files = [&] {
    std::map<std::string, std::string> all;
    for (const char* name : {"config.json", "attend.yaml", "log.jsonl", "model.safetensors",
                             "tokenizer.model", "train.corpus"}) {
      all[name] = contents(config.out / name);
    }
    return all;
  };
  const auto before = files();
  const std::string message =
      "has a model, but no checkpoint to resume from; train into another directory "
      "(--out), or replace the model with --overwrite";
  expect_error<IoError>([&] { run(config); }, message);
  expect_error<IoError>([&] { plan(config); }, message);
  EXPECT_EQ(files(), before);
}

TEST(RunSafety, AModelIsReplacedWhereThatIsAskedFor) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.snapshots.every = 10;
  run(config);
  const ModelDirectory model{config.out};
  write(model.alignment(), R"({"layer": "decoder.0.cross", "head": null})");
  fs::remove_all(model.checkpoints());
  TrainingObserver nobody;
  transformer(config).width = 32;
  config.snapshots.every = 0;
  EXPECT_EQ(plan_training(config, nobody, {.overwrite = true}).steps_done, 0);
  EXPECT_TRUE(fs::exists(model.weights()));
  EXPECT_EQ(run_training(config, nobody, true, {.overwrite = true}).step, 0);
  for (const auto& gone : {model.weights(), model.alignment(), model.looks()}) {
    EXPECT_FALSE(fs::exists(gone)) << gone;
  }
  run_training(config, nobody, false, {.overwrite = true});
  EXPECT_EQ(TextModel::load(config.out).config.settings.as<TransformerConfig>().width, 32u);
  const auto replaced = outcome(config.out);
  // With a checkpoint there is something to resume: the same command trains nothing twice.
  EXPECT_EQ(run_training(config, nobody, false, {.overwrite = true}).first_step, 24);
  EXPECT_EQ(outcome(config.out), replaced);
  EXPECT_EQ(contents(model.training()).find("overwrite"), std::string::npos);
  const fs::path fresh = directory.path() / "fresh";
  config.out = fresh;
  run(config);
  EXPECT_EQ(outcome(fresh), replaced);
}

TEST(RunSafety, AModelStaysWhereWhatWouldReplaceItIsRefused) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  run(config);
  const ModelDirectory model{config.out};
  fs::remove_all(model.checkpoints());
  const std::string weights = contents(model.weights());
  config.vocabulary.tokenizer.kind = TokenizerKind::kByte;
  config.data.longest = 1;
  TrainingObserver nobody;
  expect_error<DataError>([&] { run_training(config, nobody, false, {.overwrite = true}); },
                          "(data.longest)");
  EXPECT_EQ(TextModel::load(config.out).tokenizer("source").kind(), TokenizerKind::kCharacter);
  EXPECT_EQ(contents(model.weights()), weights);
}

TEST(RunSafety, ARunThatLeftNoCheckpointIsMentioned) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  run(config);
  const auto whole = outcome(config.out);
  fs::remove_all(config.out / "checkpoints");
  fs::remove(config.out / "model.safetensors");
  Messages messages;
  EXPECT_EQ(run_training(config, messages, false).first_step, 0);
  EXPECT_TRUE(messages.has("the last run left no checkpoint; starting at step 0")) << messages.text;
  EXPECT_EQ(outcome(config.out), whole);
}

// As an earlier version left it where the file system knows no exchange of names, killed between
// its two renames: the only checkpoint has a hidden name.
TEST(RunSafety, AHiddenCheckpointIsResumed) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  run(config);
  const auto whole = outcome(config.out);
  const fs::path checkpoints = config.out / "checkpoints";
  for (const Checkpoint& checkpoint : list_checkpoints(checkpoints)) {
    if (checkpoint.step != 24) fs::remove_all(checkpoint.path);
  }
  fs::rename(checkpoints / "step-24", checkpoints / ".step-24.aB3dE6");
  Messages messages;
  EXPECT_EQ(run_training(config, messages, false).first_step, 24);
  EXPECT_TRUE(messages.has("recovered checkpoint step-24")) << messages.text;
  EXPECT_EQ(outcome(config.out), whole);
}

TEST(RunSafety, TheFirstModelComesAfterTheFirstCheckpoint) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 8;
  run(config);
  const auto whole = outcome(config.out);
  fs::remove(config.out / "model.safetensors");  // as if it had been killed in between
  EXPECT_EQ(run(config).first_step, 8);
  EXPECT_EQ(outcome(config.out), whole);
}

TEST(RunSafety, NothingIsWrittenWhereThereIsNothingNew) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 10;
  run(config);
  config.training.steps = 20;
  const fs::path manifest = config.out / "checkpoints" / "step-10" / "manifest.json";
  const auto inode = [](const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_ino;
  };
  const auto before = inode(manifest);
  TrainingObserver nobody;
  EXPECT_EQ(run_training(config, nobody, true).end, TrainingEnd::kStopped);
  EXPECT_EQ(inode(manifest), before);
  // Nor where the step at which it is stopped has just been saved.
  config.training.report_every = 5;
  std::atomic<bool> stop{false};
  StopAt at(15, stop);
  struct stat status {};
  EXPECT_EQ(run_training(config, at, stop).step, 15);
  EXPECT_EQ(::stat((config.out / "checkpoints").c_str(), &status), 0);
  EXPECT_EQ(status.st_nlink, 2 + list_checkpoints(config.out / "checkpoints").size());
}

TEST(RunSafety, OnlyWhatIsNewGoesWithARunThatFails) {
  const TemporaryDirectory directory;
  const fs::path outer = directory.path() / "outer", root = outer / "model";
  const auto nobody = [](const std::string&) {};
  {
    const RunDirectory made({root}, nobody);
    write(root / "train.corpus", "half");
  }
  EXPECT_FALSE(fs::exists(outer));
  {
    const RunDirectory made({root}, nobody);
    write(root / "notes.txt", "of somebody else");
  }
  EXPECT_TRUE(fs::exists(root / "notes.txt"));
  {
    const RunDirectory found({root}, nobody);
    write(root / "tokenizer.model", "of the user");
  }
  EXPECT_TRUE(fs::exists(root / "tokenizer.model"));
  {
    RunDirectory kept({outer / "kept"}, nobody);
    kept.keep();
  }
  EXPECT_TRUE(fs::exists(outer / "kept"));
}

TEST(RunSafety, AFailingStartLeavesTheRunThatHasTheDirectory) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  ModelDirectory{config.out}.create();
  const DirectoryLock lock(config.out);
  write(config.out / "train.corpus", "of the other run");
  expect_error<IoError>([&] { run(config); }, "in use by another trainer");
  EXPECT_EQ(contents(config.out / "train.corpus"), "of the other run");
}

// Cuts a file at a step.
struct CutAt : TrainingObserver {
  int64_t step;
  fs::path file;
  CutAt(int64_t at, fs::path path) : step(at), file(std::move(path)) {}
  void on_report(const TrainingReport& report) override {
    if (report.step == step) fs::resize_file(file, 8);
  }
};

TEST(RunSafety, ACorpusThatIsCutOffEndsTheRunWithAMessage) {
  for (const char* name : {"train.corpus", "valid.corpus"}) {
    const TemporaryDirectory directory;
    RunConfig config = small_run(directory.path());
    run(config);
    const auto whole = outcome(config.out);
    fs::remove_all(config.out);
    CutAt observer(12, config.out / name);
    expect_error<IoError>([&] { run_training(config, observer, false); },
                          "cannot read " + observer.file.string() + ": it was cut off, to 8 bytes");
    EXPECT_GE(run(config).first_step, 10);
    EXPECT_EQ(outcome(config.out), whole);
  }
}

}  // namespace
}  // namespace attend
