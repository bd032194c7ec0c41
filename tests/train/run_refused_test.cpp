// What cannot be trained is refused before anything is made, and spoils nothing.
#include <gtest/gtest.h>

#include "attend/io/config.h"
#include "attend/models/label.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

TEST(RefusedRun, ValuesThatCannotBeAreFoundFirst) {
  const TemporaryDirectory directory;
  const RunConfig good = small_run(directory.path());
  const struct {
    const char *path, *value, *message;
  } cases[] = {
      {"optimizer.rate", "0", "optimizer.rate is 0"},
      {"optimizer.rate", "-1", "rate is -1"},
      {"model.transformer.dropout", "1.5", "model.transformer.dropout is 1.5"},
      {"model.transformer.attention_dropout", "-0.1", "attention_dropout is -0.1"},
      {"training.label_smoothing", "1", "training.label_smoothing is 1"},
      {"training.average", "2", "training.average is 2"},
      {"model.transformer.heads", "3", "3 heads"},
      {"model.transformer.decoder_layers", "0",
       "decoder_layers should be a whole number from 1 to 512"},
      {"search.beam", "0", "--search.beam should be a whole number from 1"},
      {"schedule.warmup", "-1", "--schedule.warmup should be a whole number from 0"},
      {"schedule.floor", "1.5", "floor is 1.5"},
      {"batch.tokens", "0", "--batch.tokens should be a whole number from 1"},
      {"data.longest", "0", "--data.longest should be a whole number from 1"},
      {"model.rnn.hidden", "16", "model.rnn.hidden would change nothing"},
      {"model.preset", "bahdanau", "preset bahdanau is of kind rnn"},
      {"data.valid_source", "", "needs both"},
      {"data.valid_source", "none.src", "none.src"},
      {"data.source", "none.src", "none.src"},
      {"data.source", "", "no text to train on; give --source FILE --target FILE"},
      {"data.source", "-", "data.source is standard input"},
      {"data.text", "a.txt,-", "data.text is standard input"},
      {"training.shards", "3", "training.shards is 3; it must be a power of two, such as 4"},
      {"training.frozen", "none.such", "no parameter matches 'none.such'"},
      {"training.objective", "label", "needs a model that writes a label"},
      {"data.valid_target", "-", "data.valid_target is standard input"},
  };
  for (const auto& [path, value, message] : cases) {
    RunConfig config = good;
    try {
      set_flag(config, path, value);
      run(config);
      ADD_FAILURE() << path << " = " << value << " was trained with";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
    EXPECT_FALSE(fs::exists(config.out)) << path;
  }
  RunConfig config = good;
  config.data.valid_source = config.data.valid_target = "";
  expect_error<ConfigError>([&] { run(config); },
                            "validation.metric accuracy needs text to validate on; give "
                            "--valid-source FILE and --valid-target FILE");
}

TEST(RefusedRun, ModelsThatNoMachineHasRoomForAreRefusedAtOnce) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.batch.tokens = 0;
  expect_error<ConfigError>([&] { run(config); }, "train: batch.tokens is 0, not");
  config = small_run(directory.path());
  transformer(config).width = 65536, transformer(config).encoder_layers = 512;
  expect_error<MemoryError>([&] { run(config); }, "weights and gradients alone take ");
  EXPECT_FALSE(fs::exists(config.out));
}

TEST(RefusedRun, TextsThatCannotBeNameTheirFile) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  const fs::path empty = directory.path() / "empty";
  std::ofstream(empty).close();
  const auto refused = [&](const std::string& message) {
    expect_error<DataError>([&] { run(config); }, message);
    EXPECT_FALSE(fs::exists(config.out));
  };
  config.data.valid_source = config.data.source;
  refused("valid.tgt has 20");
  config.data.valid_source = config.data.valid_target = empty;
  refused("no text in " + empty.string());
  config = small_run(directory.path());
  config.data.source = config.data.target = empty;
  refused("no text in " + empty.string());
  config = small_run(directory.path());
  config.data.target = "";
  refused("give --target FILE");
  config = small_run(directory.path());
  config.data.longest = 1;
  refused("over 1 source or 1 target tokens (data.longest)");
  config = small_run(directory.path());
  std::ofstream(config.data.target.front(), std::ios::app) << "more\n";
  refused("train.tgt has 201");
}

TEST(RefusedRun, LinesNeedPositions) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  transformer(config).positions = PositionScheme::kLearned;
  transformer(config).max_length = 2;
  expect_error<DataError>([&] { run(config); }, "over 1 source or 1 target tokens");
  transformer(config).max_length = 1;
  expect_error<ConfigError>([&] { run(config); },
                            "1 positions for its source, but one token takes 2");
  config.validation.metric = Metric::kLoss;
  config.model = ModelConfig("label");
  auto& label = config.model.settings.as<LabelConfig>();
  label.encoder.settings.as<TransformerConfig>().positions = PositionScheme::kLearned;
  label.encoder.settings.as<TransformerConfig>().max_length = 2;
  label.pooling = LabelPooling::kFirst;
  expect_error<ConfigError>([&] { run(config); }, "takes 3");
  EXPECT_FALSE(fs::exists(config.out));
}

TEST(RefusedRun, OnlyWhatWasTrainedIsGoneOnWith) {
  const TemporaryDirectory directory;
  const RunConfig config = small_run(directory.path());
  // As a process leaves it that ended after its preparations.
  RunConfig other = config;
  transformer(other).dropout = 0.5f;
  transformer(other).width = 32;
  other.vocabulary.tokenizer.kind = TokenizerKind::kByte;
  other.training.steps = 1;
  run(other);
  fs::remove_all(config.out / "checkpoints");
  fs::remove(config.out / "model.safetensors");
  TrainingObserver nobody;
  run_training(other, nobody, true);  // stopped before its first step
  Messages messages;
  run_training(config, messages, false);
  EXPECT_FALSE(messages.has("now ")) << messages.text;
  const auto after_refusal = outcome(config.out);
  fs::remove_all(config.out);
  run(config);
  EXPECT_EQ(after_refusal, outcome(config.out));
}

TEST(RefusedRun, ALongWarmUpIsSaidAndTheUsualOneFits) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.schedule.warmup = 24;
  Messages messages;
  run_training(config, messages, false);
  EXPECT_TRUE(messages.has("schedule.warmup is 24 of 24 steps")) << messages.text;
  config.out = directory.path() / "other";
  config.schedule.warmup = std::nullopt;
  messages.text.clear();
  run_training(config, messages, false);
  EXPECT_FALSE(messages.has("warmup")) << messages.text;
  RunConfig used;
  read_config(used, config.out / "attend.yaml");
  EXPECT_EQ(used.schedule.warmup, 2);
  config.training.steps = 40;
  run_training(config, messages, false);
  read_config(used, config.out / "attend.yaml");
  EXPECT_EQ(used.schedule.warmup, 4);
  EXPECT_TRUE(messages.has("now schedule.warmup = 4 (was 2)")) << messages.text;
}

TEST(RefusedRun, TargetsOfOneTokenAreSaid) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.vocabulary.tokenizer = {.kind = TokenizerKind::kBpe, .vocabulary = 400};
  config.training.steps = 1;
  Messages messages;
  run_training(config, messages, false);
  EXPECT_TRUE(messages.has("is too large for this text")) << messages.text;
}

}  // namespace
}  // namespace attend
