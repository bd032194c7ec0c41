// What a run finds in its directory: damage, leftovers, tokenizers of the user's own, other models.
#include <gtest/gtest.h>

#include "attend/io/config.h"
#include "attend/io/model_directory.h"
#include "attend/train/average.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

void write_text(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }

// Ends before its first step.
void prepare(const RunConfig& config) {
  TrainingObserver nobody;
  run_training(config, nobody, true);
}

TEST(RunDirectory, DamagedCheckpointsAreSaidAndTrainedAgain) {
  const TemporaryDirectory directory;
  const RunConfig config = small_run(directory.path());
  run(config);
  const auto whole = outcome(config.out);
  write_text(config.out / "checkpoints" / "step-24" / "state.json", "cut");
  Messages planned;
  EXPECT_EQ(plan_training(config, planned).steps_done, 20);
  Messages messages;
  EXPECT_EQ(run_training(config, messages, false).first_step, 20);
  for (const Messages& said : {planned, messages}) {
    EXPECT_TRUE(said.has("checkpoint step-24 is damaged (state.json has 3 bytes instead of "))
        << said.text;
    EXPECT_TRUE(said.has("); going on from step-20\n")) << said.text;
  }
  EXPECT_EQ(outcome(config.out), whole);
}

TEST(RunDirectory, NothingBeginsAnewBesideDamagedCheckpoints) {
  const TemporaryDirectory directory;
  const RunConfig config = small_run(directory.path());
  run(config);
  const std::string log = contents(config.out / "log.jsonl");
  const std::string weights = contents(config.out / "model.safetensors");
  for (const Checkpoint& checkpoint : list_checkpoints(config.out / "checkpoints")) {
    write_text(checkpoint.path / "manifest.json", "{");
  }
  expect_error<IoError>([&] { run(config); }, "no checkpoint is whole: step-24 is damaged");
  expect_error<IoError>([&] { plan(config); }, "or overwrite the model");
  EXPECT_EQ(contents(config.out / "log.jsonl"), log);
  EXPECT_EQ(contents(config.out / "model.safetensors"), weights);
  TrainingObserver nobody;
  EXPECT_EQ(run_training(config, nobody, false, {.overwrite = true}).first_step, 0);
  EXPECT_EQ(contents(config.out / "model.safetensors"), weights);
}

TEST(RunDirectory, WhatKilledRunsWereWritingIsRemoved) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 1;
  const std::vector<std::string> left = {".model.safetensors.aB3dE6", ".train.corpus.Zy9xW8",
                                         ".valid.corpus.123456", ".tokenizer.target.model.abcdef",
                                         "looks/.step-500.safetensors.abcdef"};
  const std::vector<std::string> other = {".model.safetensors",  ".model.safetensors.abcdefg",
                                          ".notes.txt.abcdef",   ".model.safetensors.ab-def",
                                          "looks/.notes.abcdef", "model.safetensors.abcdef"};
  fs::create_directories(config.out / "looks");
  for (const std::string& name : left) write_text(config.out / name, "half");
  for (const std::string& name : other) write_text(config.out / name, "mine");
  run(config);
  for (const std::string& name : left) EXPECT_FALSE(fs::exists(config.out / name)) << name;
  for (const std::string& name : other) EXPECT_TRUE(fs::exists(config.out / name)) << name;
}

TEST(RunDirectory, TheUsersTokenizersStay) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 1;
  const ModelDirectory model{config.out};
  model.create();
  train_tokenizer({.kind = TokenizerKind::kCharacter}, std::vector<std::string>{"abcdefgh"})
      ->save(model.tokenizer());
  const std::string own = contents(model.tokenizer());
  prepare(config);
  EXPECT_EQ(contents(model.tokenizer()), own);
  const fs::path moved = directory.path() / "moved.src";
  fs::rename(config.data.source.front(), moved);
  config.data.source = moved;
  Messages planned;
  EXPECT_EQ(plan_training(config, planned).vocabularies.front().second, kSpecialTokens + 8);
  EXPECT_TRUE(planned.has("found in the model directory")) << planned.text;
  run(config);
  EXPECT_EQ(contents(model.tokenizer()), own);
  EXPECT_EQ(TextModel::load(config.out).tokenizer("source").size(), kSpecialTokens + 8);
}

TEST(RunDirectory, TokenizersThatWereTrainedThereGiveWay) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 1;
  prepare(config);
  config.vocabulary.joint = false;
  EXPECT_EQ(plan(config).vocabularies.front().second, kSpecialTokens + 5);
  const ModelDirectory model{config.out};
  EXPECT_TRUE(fs::exists(model.tokenizer()));  // a plan changes nothing
  prepare(config);
  EXPECT_FALSE(fs::exists(model.tokenizer()));
  EXPECT_TRUE(fs::exists(model.tokenizer("source")));
  // As a process leaves it that was killed between the two.
  fs::remove(model.tokenizer("source"));
  run(config);
  EXPECT_TRUE(fs::exists(model.tokenizer("source")));

  config.out = directory.path() / "other";
  const ModelDirectory other{config.out};
  other.create();
  fs::copy_file(model.tokenizer("target"), other.tokenizer("target"));
  expect_error<ConfigError>([&] { run(config); }, "but no tokenizer.source.model");
  EXPECT_TRUE(fs::exists(other.tokenizer("target")));
}

TEST(RunDirectory, AMeanReplacesTheWeightsOfOneModelOnly) {
  const TemporaryDirectory directory;
  const fs::path out = directory.path() / "mean";
  RunConfig config = small_run(directory.path());
  config.training.steps = 1;
  run(config);
  average_checkpoints(config.out, 1, out);
  write_text(out / "alignment.json", R"({"layer": "decoder.9.cross", "head": null})");
  const fs::path first = config.out;
  config.out = directory.path() / "pair";
  config.vocabulary.target_kind = TokenizerKind::kWord;
  run(config);
  expect_error<IoError>([&] { average_checkpoints(config.out, 1, out); },
                        "has another model; average into another directory");
  expect_error<IoError>([&] { average_checkpoints(config.out, 1, first); },
                        "has a run with checkpoints");
  EXPECT_EQ(TextModel::load(out).tokenizer("target").kind(), TokenizerKind::kCharacter);
  average_checkpoints(first, 1, out);
  EXPECT_FALSE(TextModel::load(out).best_alignment.has_value());
}

TEST(RunDirectory, APlanHasTheBatchesOfTheRun) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  write_pairs(config.data.source, config.data.target, 5000, 3);
  const size_t small = plan(config).steps_per_epoch;
  config.memory.bytes = size_t{4} << 20;
  const size_t large = plan(config).steps_per_epoch;
  EXPECT_LT(large, small / 4);
  config.training.steps = 1;
  run(config);
  RunConfig used;
  read_config(used, config.out / "attend.yaml");
  const Corpus corpus(config.out / "train.corpus");
  EXPECT_EQ(plan(config).steps_per_epoch, BatchStream(corpus, used.batch).batches_per_epoch());
}

TEST(RunDirectory, APlanRefusesWhatARunDoes) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 2;
  run(config);
  transformer(config).width = 32;
  expect_error<ConfigError>([&] { plan(config); },
                            "trained with model.transformer.width = 16, not 32");
}

}  // namespace
}  // namespace attend
