#include "attend/train/run.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <map>

#include "attend/base/files.h"
#include "attend/base/parallel.h"
#include "attend/base/storage.h"
#include "attend/decode/translator.h"
#include "attend/inspect/snapshot.h"
#include "attend/io/checkpoint.h"
#include "attend/io/config.h"
#include "attend/io/model_directory.h"
#include "attend/io/safetensors.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

TEST(Run, TrainsAModelThatTranslates) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  transformer(config).width = 32;
  transformer(config).feed_forward = 64;
  transformer(config).dropout = 0.0f;
  write_pairs(config.data.source, config.data.target, 1000, 3);
  config.training.steps = 600;
  config.training.label_smoothing = 0;
  config.training.save_every = 300;
  config.validation.every = 300;
  config.batch.tokens = 400;
  config.optimizer.rate = 5e-3;
  config.schedule.warmup = 50;
  const RunResult result = run(config);
  EXPECT_EQ(result.end, TrainingEnd::kAllSteps);
  EXPECT_EQ(result.step, 600);
  EXPECT_GT(result.best_score, 90.0);
  const Translator translate({TextModel::load(config.out)}, {});
  const std::vector<std::string> lines = {"abcd", "eda"};
  const auto found = translate(lines);
  EXPECT_EQ(found[0].texts.front(), "dcba");
  EXPECT_EQ(found[1].texts.front(), "ade");
}

TEST(Run, TheSidesCanBeCutUpInTheirOwnWays) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.vocabulary.target_kind = TokenizerKind::kWord;
  config.training.steps = 1;
  run(config);
  const TextModel model = TextModel::load(config.out);
  EXPECT_EQ(model.tokenizer("source").kind(), TokenizerKind::kCharacter);
  EXPECT_EQ(model.tokenizer("target").kind(), TokenizerKind::kWord);
}

TEST(Run, ModelsOfCheckpointsHaveTheMeanOfTheirWeights) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.keep = 3;
  config.training.keep_every = 10;
  config.validation.every = 1000;
  run(config);
  const auto kept = list_checkpoints(config.out / "checkpoints");
  std::vector<int64_t> steps(kept.size());
  std::ranges::transform(kept, steps.begin(), &Checkpoint::step);
  ASSERT_EQ(steps, (std::vector<int64_t>{10, 15, 20, 24}));

  const fs::path out = directory.path() / "mean";
  EXPECT_EQ(average_checkpoints(config.out, 2, out), (std::vector<int64_t>{20, 24}));
  const TextModel mean = TextModel::load(out);
  const SafetensorsFile before(kept[2].path / kTrainingTensors),
      last(kept[3].path / kTrainingTensors);
  for (const NamedTensor& p : parameters(*mean.model)) {
    const Tensor a = before.read(kWeightsPrefix + p.name), b = last.read(kWeightsPrefix + p.name);
    for (size_t i = 0; i < p.tensor.size(); ++i) {
      ASSERT_EQ(p.tensor.data()[i],
                static_cast<float>((double{a.data()[i]} + double{b.data()[i]}) / 2));
    }
  }
  expect_error<IoError>([&] { average_checkpoints(config.out, 5, out); },
                        "4 whole checkpoints, not 5");
  EXPECT_THROW(average_checkpoints(config.out, 2, config.out), IoError);
}

TEST(Run, BatchesAreSizedToFitAMemory) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  write_pairs(config.data.source, config.data.target, 5000, 3);
  config.training.steps = 3;
  std::vector<size_t> tokens;
  for (const size_t megabytes : {4, 8}) {
    config.memory.bytes = megabytes << 20;
    config.out = directory.path() / fmt::format("model{}", megabytes);
    reset_peak_bytes();
    const size_t before = pool_statistics().bytes_in_use;
    run(config);
    EXPECT_LE(pool_statistics().peak_bytes_in_use - before, config.memory.bytes);
    RunConfig used;
    read_config(used, config.out / "attend.yaml");
    tokens.push_back(used.batch.tokens);
    config.training.steps = 6;  // goes on with batches of that size
    run(config);
    read_config(used, config.out / "attend.yaml");
    EXPECT_EQ(used.batch.tokens, tokens.back());
    config.training.steps = 3;
  }
  EXPECT_GT(tokens[0], 1024u);
  EXPECT_GT(tokens[1], tokens[0] * 3 / 2);
  config.memory.bytes = 100'000;
  config.out = directory.path() / "none";
  expect_error<ConfigError>([&] { run(config); }, "memory 100000B is too little");
}

TEST(Run, ContinuesWhereSnapshotsCannotBeStored) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 4;
  config.snapshots.every = 2;
  fs::create_directories(config.out);
  std::ofstream(config.out / "looks") << "in the way";
  Messages messages;
  EXPECT_EQ(run_training(config, messages, false).step, 4);
  EXPECT_TRUE(messages.has("no snapshot stored at step 2: ")) << messages.text;
}

TEST(Run, StoresSnapshotsAsItLearns) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 6;
  config.snapshots.every = 2;
  config.snapshots.sentences = 2;
  run(config);
  const ModelDirectory model{config.out};
  EXPECT_EQ(snapshot_steps(model), (std::vector<int64_t>{2, 4, 6}));
  const Snapshot first(model, 2), last(model, 6);
  ASSERT_EQ(last.sentences(), 2u);
  std::ifstream valid(config.data.valid_source.front());
  std::string line;
  std::getline(valid, line);
  const TextModel text = TextModel::load(config.out);
  EXPECT_EQ(text.tokenizer("source").decode(last.trace(text, 0).sequence("source").ids), line);
  const Tensor map = last.map(0, "decoder.0.cross", HeadChoice::parse("1"));
  for (size_t i = 0; i < map.rows(); ++i) {
    float sum = 0;
    for (const float weight : map.slice_rows(i, 1).span()) sum += weight;
    EXPECT_NEAR(sum, 1.0f, 1e-5f);
  }
  EXPECT_NE(first.map(0, "decoder.0.cross", {}).to_vector(),
            last.map(0, "decoder.0.cross", {}).to_vector());
  expect_error<ConfigError>([&] { last.map(0, "decoder.9.cross", {}); },
                            "no map 0.decoder.9.cross");
  expect_error<ConfigError>([&] { last.map(0, "decoder.0.cross", HeadChoice::parse("2")); },
                            "there is no head 2 of 2");
  expect_error<ConfigError>([&] { last.trace(text, 2); }, "no sentence 2");
  expect_error<IoError>([&] { const Snapshot none(model, 3); }, "step-3");
}

TEST(Run, TheCoverageLossNeedsCoverage) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path(), "rnn");
  rnn(config).coverage = true;
  config.training.steps = 2;
  std::vector<std::string> weights;
  for (const double weight : {0.0, 1.0}) {
    config.training.coverage_loss = weight;
    config.out = directory.path() / fmt::format("model{}", weight);
    run(config);
    weights.push_back(contents(config.out / "model.safetensors"));
    const std::string log = contents(config.out / "log.jsonl");
    const bool told = log.find(R"("parts":{"cross_entropy":)") != std::string::npos &&
                      log.find(R"(,"coverage":)") != std::string::npos;
    EXPECT_EQ(told, weight > 0) << log;
  }
  EXPECT_NE(weights[0], weights[1]);
  rnn(config).coverage = false;
  config.out = directory.path() / "none";
  expect_error<ConfigError>([&] { run(config); },
                            "training.coverage_loss is 1, but the model has no coverage loss");
  EXPECT_FALSE(fs::exists(config.out));
}

TEST(Run, StoppedAndResumedIsAsNeverStopped) {
  for (const char* kind : {"transformer", "rnn"}) {
    const TemporaryDirectory whole, parts;
    run(small_run(whole.path(), kind));
    const RunConfig config = small_run(parts.path(), kind);
    for (const int64_t step : {3, 12, 21}) {
      std::atomic<bool> stop{false};
      StopAt observer(step, stop);
      EXPECT_EQ(run_training(config, observer, stop).end, TrainingEnd::kStopped);
    }
    run(config);
    EXPECT_EQ(outcome(parts.path() / "model"), outcome(whole.path() / "model"));
  }
}

TEST(Run, IsTheSameOnAnyNumberOfThreads) {
  for (const size_t shards : {1, 4}) {
    std::vector<std::vector<std::string>> outcomes;
    for (const int threads : {1, 2, 4}) {
      const ThreadCountScope scope(threads);
      const TemporaryDirectory directory;
      RunConfig config = small_run(directory.path());
      config.training.shards = shards;
      run(config);
      outcomes.push_back(outcome(config.out));
    }
    EXPECT_EQ(outcomes[0], outcomes[1]) << shards;
    EXPECT_EQ(outcomes[0], outcomes[2]) << shards;
  }
}

// Without dropout an update is a sum over its labels, however they are divided.
TEST(Run, ShardsLearnWhatOneBatchDoes) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  transformer(config).dropout = 0;
  config.training.steps = 6;
  config.batch.shuffle = false;
  config.validation.metric = Metric::kLoss;
  config.validation.every = 6;
  std::vector<double> losses;
  for (const size_t shards : {1, 2, 8}) {
    config.training.shards = shards;
    config.out = directory.path() / fmt::format("model{}", shards);
    losses.push_back(run(config).best_score);
  }
  EXPECT_NEAR(losses[0], losses[1], 0.05);
  EXPECT_NEAR(losses[0], losses[2], 0.05);
}

TEST(Run, ShardsAreResumedAsIfNeverStopped) {
  const TemporaryDirectory whole, parts;
  RunConfig config = small_run(whole.path());
  config.training.shards = 4;
  run(config);
  RunConfig stopped = small_run(parts.path());
  stopped.training.shards = 4;
  for (const int64_t step : {3, 12}) {
    std::atomic<bool> stop{false};
    StopAt observer(step, stop);
    EXPECT_EQ(run_training(stopped, observer, stop).end, TrainingEnd::kStopped);
  }
  run(stopped);
  EXPECT_EQ(outcome(stopped.out), outcome(config.out));
}

TEST(Run, FrozenPartsKeepTheirBits) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 4;
  config.training.average = 0;
  config.training.frozen = {"encoder"};
  run(config);
  const TextModel trained = TextModel::load(config.out);
  Rng rng(config.training.seed);
  const auto fresh = make_model(trained.config, rng);
  const auto before = parameters(*fresh), after = parameters(*trained.model);
  size_t frozen = 0, moved = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const bool same = before[i].tensor.to_vector() == after[i].tensor.to_vector();
    const bool is_frozen = before[i].name.starts_with("encoder.");
    EXPECT_TRUE(same || !is_frozen) << before[i].name;
    frozen += is_frozen ? 1 : 0;
    moved += same ? 0 : 1;
  }
  EXPECT_GT(frozen, 5u);
  EXPECT_GT(moved, 5u);
}

// Trains in a process of its own, which is killed after so many microseconds.
bool run_killed(const RunConfig& config, useconds_t after) {
  const pid_t child = fork();
  if (child == 0) {
    set_thread_count(1);
    try {
      run(config);
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  for (useconds_t waited = 0; waitpid(child, &status, WNOHANG) == 0; waited += 500) {
    if (waited >= after) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    usleep(500);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Run, KilledAtFiftyMomentsIsAsNeverKilled) {
  const ThreadCountScope one(1);
  const TemporaryDirectory whole, parts;
  RunConfig config = small_run(whole.path());
  config.training.save_every = 1;
  config.training.steps = 200;
  config.validation.every = 40;
  run(config);
  const auto expected = outcome(config.out);

  const RunConfig killed = [&] {
    RunConfig c = small_run(parts.path());
    c.training = config.training;
    c.validation = config.validation;
    return c;
  }();
  const RandomStream random(5, 0);
  for (uint64_t i = 0; i < 50; ++i) {
    run_killed(killed, static_cast<useconds_t>(2000 + random.below(i, 60000)));
  }
  while (!run_killed(killed, 30'000'000)) {
  }
  EXPECT_EQ(outcome(killed.out), expected);
}

TEST(Run, UpdatesThatAreNotFiniteAreLeftOutAndEndTraining) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 10;
  run(config);
  const auto before = outcome(config.out);
  config.training.steps = 20;
  config.optimizer.rate = 1e30;
  config.optimizer.clip_norm = 0;
  config.training.save_every = 100;
  config.validation.every = 100;
  expect_error<DataError>([&] { run(config); }, "not finite 5 times in a row");
  EXPECT_EQ(outcome(config.out), before);
}

TEST(Run, OtherModelsDoNotGoOnInADirectory) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 5;
  run(config);
  transformer(config).width = 32;
  expect_error<ConfigError>([&] { run(config); },
                            "trained with model.transformer.width = 16, not 32");
}

TEST(Run, TwoTrainersDoNotShareADirectory) {
  const TemporaryDirectory directory;
  const RunConfig config = small_run(directory.path());
  ModelDirectory{config.out}.create();
  const DirectoryLock lock(config.out);
  expect_error<IoError>([&] { run(config); }, "in use by another trainer");
}

TEST(Run, StopsWhenNothingGetsBetter) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.optimizer.rate = 1e-30;
  config.training.average = 0;
  config.validation.every = 2;
  config.validation.patience = 3;
  EXPECT_EQ(run(config).end, TrainingEnd::kNoProgress);
  EXPECT_EQ(run(config).end, TrainingEnd::kNoProgress);
}

TEST(Run, APlanKnowsTheModelAndTheData) {
  const TemporaryDirectory directory;
  const RunConfig config = small_run(directory.path());
  const RunPlan planned = plan(config);
  EXPECT_EQ(planned.task, "translate");
  EXPECT_EQ(planned.records, 200u);
  using Vocabularies = std::vector<std::pair<std::string, size_t>>;
  EXPECT_EQ(planned.vocabularies, (Vocabularies{{"source", 8}, {"target", 8}}));
  EXPECT_GT(planned.steps_per_epoch, 4u);
  EXPECT_GT(planned.tokens_per_second, 0.0);
  EXPECT_GT(planned.seconds, 0.0);
  size_t parts = 0;
  for (const auto& [name, count] : planned.parts) parts += count;
  EXPECT_EQ(parts, planned.parameters);
  EXPECT_FALSE(fs::exists(config.out));
}

TEST(Run, TheHelpSaysWhatASettingDoes) {
  std::map<std::string, std::string> help;
  for (const Flag& flag : flags_of(RunConfig())) help[flag.path] = flag.help;
  EXPECT_EQ(help["training.seed"],
            "seed of weights and dropout; batch.seed is that of the data's order");
  EXPECT_EQ(help["validation.sentences"], "sentences to decode at most; 0: all");
  EXPECT_EQ(help["memory"], "such as 4GB: batches are sized to fit; 0: use batch.tokens");
}

TEST(Run, SaysWhatIsMissing) {
  RunConfig config;
  expect_error<ConfigError>([&] { run(config); }, "give --out DIRECTORY");
  config.out = "somewhere";
  expect_error<ConfigError>([&] { run(config); }, "give --source FILE");
}

}  // namespace
}  // namespace attend
