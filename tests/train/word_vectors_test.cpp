// Word vectors from a text to a model directory.
#include <gtest/gtest.h>

#include "attend/base/parallel.h"
#include "attend/decode/loaded_model.h"
#include "attend/train/choices.h"
#include "tests/errors.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

// Sentences in which "cat" and "dog" stand in the same places, and "red" and "blue".
void write_sentences(const fs::path& file, size_t count) {
  std::ofstream out(file);
  const std::string animals[] = {"cat", "dog"}, colours[] = {"red", "blue"};
  const RandomStream random(7, 0);
  for (size_t i = 0; i < count; ++i) {
    out << "the " << animals[random.below(3 * i, 2)] << " eats its food at home\n";
    out << "paint the wall " << colours[random.below(3 * i + 1, 2)] << " and let it dry\n";
  }
}

RunConfig word_run(const fs::path& directory, const std::string& preset) {
  write_sentences(directory / "text", 300);
  RunConfig config;
  config.out = directory / "model";
  config.data.text = {directory / "text"};
  config.model = ModelConfig::of_preset(preset);
  GivenSettings given;
  given.add("model.preset");
  config.data.documents = DocumentKind::kLine;
  given.add("data.documents");
  config.training.steps = 1500;
  given.add("training.steps");
  config.batch.tokens = 20;
  given.add("batch.tokens");
  config = choose_settings(config, given).config;
  config.optimizer.rate = 0.05;
  config.training.report_every = 1;
  for (const Field& field : fields_of(config.model.settings).fields) {
    if (field.path == "width") field.set(std::vector<std::string>{"16"});
    if (field.path == "subsample") field.set(std::vector<std::string>{"0"});
  }
  return config;
}

TEST(WordVectorRun, ChoosesWhatIsUsualForIt) {
  const TemporaryDirectory directory;
  const RunConfig config = word_run(directory.path(), "skipgram");
  EXPECT_EQ(config.vocabulary.tokenizer.kind, TokenizerKind::kWord);
  EXPECT_EQ(config.optimizer.kind, OptimizerKind::kSgd);
  EXPECT_EQ(config.schedule.kind, ScheduleKind::kLinear);
  EXPECT_EQ(config.optimizer.clip_norm, 0);
  EXPECT_EQ(config.batch.tokens, 20u);
}

TEST(WordVectorRun, WordsInTheSamePlacesBecomeNeighbours) {
  for (const std::string preset : {"skipgram", "cbow", "fasttext"}) {
    const TemporaryDirectory directory;
    const RunConfig config = word_run(directory.path(), preset);
    run(config);
    const LoadedModel model = load(config.out);
    EXPECT_EQ(model.neighbours("cat", 1).front().text, "dog") << preset;
    EXPECT_EQ(model.neighbours("blue", 1).front().text, "red") << preset;
  }
}

TEST(WordVectorRun, HasTheSameBitsOnAnyThreadsAndWhenResumed) {
  for (const std::string preset : {"skipgram", "cbow", "fasttext"}) {
    std::vector<std::vector<std::string>> outcomes;
    for (const int threads : {1, 2, 4}) {
      const ThreadCountScope scope(threads);
      const TemporaryDirectory directory;
      RunConfig config = word_run(directory.path(), preset);
      if (threads == 4) {
        TrainingObserver nobody;
        std::atomic<bool> stop{false};
        StopAt observer(77, stop);
        EXPECT_EQ(run_training(config, observer, stop).step, 77);
      }
      run(config);
      outcomes.push_back(outcome(config.out));
    }
    EXPECT_EQ(outcomes[1], outcomes[0]) << preset;
    EXPECT_EQ(outcomes[2], outcomes[0]) << preset << ", resumed";
  }
}

TEST(WordVectorRun, LearnsByHierarchicalSoftmaxAndIsJudgedByHeldOutText) {
  const TemporaryDirectory directory;
  RunConfig config = word_run(directory.path(), "skipgram");
  for (const Field& field : fields_of(config.model.settings).fields) {
    if (field.path == "output") field.set(std::vector<std::string>{"hierarchical_softmax"});
  }
  config.data.held_out = 0.2;
  config.training.steps = 200;
  config.validation.every = 50;
  struct Scores : TrainingObserver {
    std::vector<double> losses;
    void on_validation(const TrainingReport&, const ValidationScore& score, bool) override {
      losses.push_back(score.loss);
    }
  } scores;
  const std::atomic<bool> never{false};
  run_training(config, scores, never);
  ASSERT_EQ(scores.losses.size(), 4u);
  EXPECT_LT(scores.losses.back(), 0.95 * scores.losses.front());
}

TEST(WordVectorRun, RefusesATextWithoutWordsAndOtherModels) {
  const TemporaryDirectory directory;
  RunConfig config = word_run(directory.path(), "skipgram");
  std::ofstream(directory.path() / "text") << "a b c\n";
  config.vocabulary.tokenizer.minimum_count = 2;
  expect_error<DataError>([&] { run(config); }, "no word of the vocabulary occurs");
  std::ofstream(directory.path() / "text") << "\n";
  expect_error<DataError>([&] { run(config); }, "no text in");
  RunConfig other = small_run(directory.path());
  other.training.objective = std::string_view("word_context");
  expect_error<ConfigError>([&] { run(other); }, "needs a model of word vectors");
}

// Each word is in an update many times, and all its steps are added up.
TEST(WordVectorRun, OfTenWordsLearnsWithWhatIsChosen) {
  const TemporaryDirectory directory;
  std::ofstream text(directory.path() / "text");
  const RandomStream random(9, 0);
  for (uint64_t i = 0; i < 20'000; ++i) {
    const uint64_t half = random.below(i / 8, 2) * 5;  // lines have words of one half or the other
    text << "w" << half + random.below((1 << 20) + i, 5) << (i % 8 == 7 ? "\n" : " ");
  }
  text.close();
  struct Losses : TrainingObserver {
    double first = 0, last = 0;
    void on_report(const TrainingReport& report) override {
      if (first == 0) first = report.loss;
      last = report.loss;
    }
  };
  for (const std::string preset : {"skipgram", "cbow", "fasttext"}) {
    for (const std::string output : {"negative_sampling", "hierarchical_softmax"}) {
      SCOPED_TRACE(preset + " " + output);
      RunConfig config;
      config.out = directory.path() / (preset + output);
      config.data.text = {directory.path() / "text"};
      config.model = ModelConfig::of_preset(preset);
      for (const Field& field : fields_of(config.model.settings).fields) {
        if (field.path == "output") field.set(std::vector<std::string>{output});
      }
      GivenSettings given;
      given.add("model.preset");
      Losses losses;
      const std::atomic<bool> never{false};
      run_training(choose_settings(config, given).config, losses, never);
      // A tree over so few words begins near to what it can reach.
      EXPECT_LT(losses.last, (output == "negative_sampling" ? 0.9 : 1.0) * losses.first);
      for (const auto& near : load(config.out).neighbours("w1", 4)) EXPECT_LT(near.text, "w5");
    }
  }
}

TEST(WordVectorRun, OneWordIsEnoughToTrain) {
  const TemporaryDirectory directory;
  RunConfig config = word_run(directory.path(), "skipgram");
  std::ofstream(directory.path() / "text") << "word word\nword\n";
  config.training.steps = 3;
  run(config);
  EXPECT_TRUE(load(config.out).neighbours("word").empty());
}

}  // namespace
}  // namespace attend
