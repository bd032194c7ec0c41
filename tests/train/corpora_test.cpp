// Runs on several corpora with weights.
#include <gtest/gtest.h>

#include "attend/base/parallel.h"
#include "attend/models/label.h"
#include "attend/train/choices.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

class CorporaRuns : public DirectoryTest {
 protected:
  // Two corpora of pairs, of 200 and 40 records.
  RunConfig pairs(const std::string& name = "model") const {
    RunConfig c = small_run(directory_);
    write_pairs(directory_ / "more.src", directory_ / "more.tgt", 40, 5);
    c.out = directory_ / name;
    c.data.source = {directory_ / "train.src", directory_ / "more.src"};
    c.data.target = {directory_ / "train.tgt", directory_ / "more.tgt"};
    c.data.weights = {0.5, 2.5};
    c.training.steps = 30;  // of more than one epoch
    return c;
  }
  RunConfig labels() const {
    RunConfig c = pairs();
    c.model = ModelConfig("label");
    auto& encoder = c.model.settings.as<LabelConfig>().encoder.settings.as<TransformerConfig>();
    encoder.width = 16, encoder.heads = 2, encoder.encoder_layers = 1, encoder.feed_forward = 32;
    c.data = {};
    for (const int corpus : {0, 1}) {
      const fs::path file = directory_ / fmt::format("texts{}", corpus);
      std::ofstream out(file);
      for (int i = 0; i < 30; ++i) out << "abc"[i % 3] << "\t" << (corpus == 0 ? "x" : "y") << "\n";
      c.data.text.push_back(file.string() + ":1");
      c.data.label.push_back(file.string() + ":2");
    }
    c.data.weights = {3, 1};
    c.validation.metric = Metric::kLoss;
    return c;
  }
  RunConfig book() const {
    RunConfig c = small_run(directory_);
    c.model = ModelConfig::of_preset("gpt-nano");
    c.data = {};
    std::ofstream(directory_ / "one") << std::string(600, 'a');
    std::ofstream(directory_ / "two") << std::string(300, 'b');
    c.data.text = {directory_ / "one", directory_ / "two"};
    c.data.weights = {1, 2};
    c.data.context = 32;
    c.training.steps = 8;
    c.validation.metric = Metric::kLoss;
    return c;
  }
};

TEST_F(CorporaRuns, HaveTheSameBitsForAnyThreadsAndAfterAStop) {
  for (const int threads : {1, 3}) {
    const ThreadCountScope scope(threads);
    run(pairs(fmt::format("run{}", threads)));
  }
  const auto whole = outcome(directory_ / "run1");
  EXPECT_EQ(outcome(directory_ / "run3"), whole);
  for (const int64_t at : {3, 17}) {
    const RunConfig stopped = pairs(fmt::format("stopped{}", at));
    std::atomic<bool> stop{false};
    StopAt observer(at, stop);
    EXPECT_LT(run_training(stopped, observer, stop).step, stopped.training.steps);
    run(stopped);
    EXPECT_EQ(outcome(stopped.out), whole) << at;
  }
  RunConfig other = pairs("other");
  other.data.weights = {1, 1};
  run(other);
  EXPECT_NE(outcome(other.out), whole);
}

TEST_F(CorporaRuns, SayWhatAnEpochHas) {
  Messages messages;
  run_training(pairs(), messages, false);
  EXPECT_TRUE(messages.has("data: 240 pairs")) << messages.text;
  EXPECT_TRUE(messages.has("an epoch has 200 pairs of 2 corpora: 200 pairs of ")) << messages.text;
  EXPECT_TRUE(messages.has("train.src x 0.5 (50.0 %), 40 pairs of ")) << messages.text;
  EXPECT_TRUE(messages.has("more.src x 2.5 (50.0 %)")) << messages.text;

  Messages again;
  RunConfig config = pairs();
  config.data.weights = {1, 1};
  config.training.steps += 2;
  run_training(config, again, false);
  EXPECT_TRUE(again.has("now data.weights = 1,1 (was 0.5,2.5)")) << again.text;
}

TEST_F(CorporaRuns, ReadEveryKindOfRecord) {
  Messages of_labels, of_windows;
  run_training(labels(), of_labels, false);
  EXPECT_TRUE(of_labels.has("texts0:1 x 3 (75.0 %)")) << of_labels.text;
  fs::remove_all(directory_ / "model");
  run_training(book(), of_windows, false);
  EXPECT_TRUE(of_windows.has("one x 1 (")) << of_windows.text;
  EXPECT_TRUE(of_windows.has("two x 2 (")) << of_windows.text;
}

// What is seen more often is learned: each text has both labels, one of them three times as often.
TEST_F(CorporaRuns, TheLabelOfTheLargerWeightWins) {
  for (const bool first : {true, false}) {
    RunConfig config = labels();
    config.out = directory_ / (first ? "first" : "second");
    if (!first) config.data.weights = {1, 3};
    config.training.steps = 60, config.optimizer.rate = 0.01;
    run(config);
    const TextModel model = TextModel::load(config.out);
    const auto ids = model.tokenizer("text").encode("a");
    const Tensor logits = model.classifier().label_logits(
        Batch("text", framed(one_sequence(ids), model.model->signature().column("text").framing,
                             model.tokenizer("text").special())));
    const Tokenizer& labels = model.tokenizer("label");
    const auto at = [&](const char* label) {
      return logits.to_vector()[labels.encode(label).front() - labels.first_piece()];
    };
    EXPECT_EQ(at("x") > at("y"), first);
  }
}

TEST_F(CorporaRuns, AHeldOutPartIsOfAll) {
  RunConfig config = pairs();
  config.data.valid_source.clear(), config.data.valid_target.clear();
  config.data.held_out = 0.2;
  Messages messages;
  run_training(config, messages, false);
  EXPECT_TRUE(messages.has("validation: ")) << messages.text;
  EXPECT_FALSE(messages.has("data: 240 pairs")) << messages.text;
}

TEST_F(CorporaRuns, FilesAndWeightsMustFitOneAnother) {
  const auto refused = [&](const auto& change, const char* text) {
    RunConfig config = pairs();
    change(config.data);
    expect_error<ConfigError>([&] { config.check(); }, text);
  };
  refused([](DataConfig& d) { d.target.pop_back(); },
          "data.source has 2 files but data.target has 1 file; give one for each");
  refused([](DataConfig& d) { d.weights = {1}; },
          "data.weights has 1 weight, but there are 2 corpora");
  refused([](DataConfig& d) { d.weights = {1, 0}; }, "a weight must be above 0 and at most 1000");
  refused([](DataConfig& d) { d.weights = {1, NAN}; }, "a weight must be above 0");
  RunConfig missing = pairs();
  missing.data.target.pop_back();
  expect_error<ConfigError>([&] { choose_settings(missing, {}); }, "give one for each");
  RunConfig empty = pairs();
  std::ofstream(directory_ / "more.src").close();
  std::ofstream(directory_ / "more.tgt").close();
  expect_error<DataError>([&] { run(empty); }, "no text in " + (directory_ / "more.src").string());
}

TEST_F(CorporaRuns, PairsMayBeColumnsOfEachFile) {
  RunConfig config = pairs();
  for (const char* name : {"one.tsv", "two.tsv"}) {
    std::ofstream out(directory_ / name);
    for (int i = 0; i < 40; ++i)
      out << "ab\tba\n"
          << "cde\tedc\n";
  }
  config.data.source = {directory_ / "one.tsv", directory_ / "two.tsv"};
  config.data.target.clear();
  config.data.weights = {1, 2};
  Messages messages;
  run_training(config, messages, false);
  EXPECT_TRUE(messages.has("an epoch has 240 pairs of 2 corpora")) << messages.text;
}

TEST_F(CorporaRuns, ChoicesCountTheEpochByTheWeights) {
  RunConfig config;
  config.out = directory_ / "model";
  config.data = pairs().data;
  config.data.weights = {1, 1};
  const auto line = [&] { return choose_settings(config, {}).lines.back(); };
  const std::string once = line();
  config.data.weights = {3, 3};
  EXPECT_NE(line(), once);
}

}  // namespace
}  // namespace attend
