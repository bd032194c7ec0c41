// Runs that start from the weights of a model.
#include "attend/train/fine_tuning.h"

#include <gtest/gtest.h>

#include "attend/decode/loaded_model.h"
#include "attend/io/config.h"
#include "attend/models/gpt.h"
#include "attend/models/label.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

// A language model of some words, and texts with labels that a letter decides.
class FineTunedRun : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream text(path("text")), texts(path("texts")), labels(path("labels"));
    const RandomStream random(5, 0);
    for (uint64_t i = 0; i < 300; ++i) {
      std::string word;
      for (uint64_t j = 0; j < 4; ++j) word += static_cast<char>('a' + random.below(9 * i + j, 5));
      text << word << "\n";
      texts << word << "\n";
      labels << (word.front() == 'a' ? "yes" : "no") << "\n";
    }
  }

  fs::path path(const std::string& name) const { return directory_.path() / name; }

  RunConfig short_run(const std::string& out) const {
    RunConfig c;
    c.out = path(out);
    c.data.text = {path("text")};
    c.vocabulary.tokenizer.kind = TokenizerKind::kCharacter;
    c.batch.tokens = 200;
    c.schedule.warmup = 2;
    c.training.steps = 6;
    c.training.report_every = 2;
    c.training.save_every = 4;
    return c;
  }
  RunConfig base_run() const {
    RunConfig c = short_run("base");
    c.model = ModelConfig("gpt");
    auto& gpt = c.model.settings.as<GptConfig>();
    gpt.width = 16, gpt.heads = 2, gpt.layers = 2, gpt.dropout = 0.25f;
    c.data.documents = DocumentKind::kLine;
    c.optimizer.rate = 0.02;
    return c;
  }
  // What `attend train --init-from base --text texts --label labels` has for settings.
  RunConfig tuned_run(const std::string& out, GivenSettings given = {}) const {
    RunConfig c = short_run(out);
    c.vocabulary.tokenizer.kind = RunConfig().vocabulary.tokenizer.kind;
    c.data.text = {path("texts")};
    c.data.label = path("labels");
    c.init_from = path("base");
    for (const char* set :
         {"batch.tokens", "training.steps", "schedule.warmup", "training.save_every"}) {
      given.add(set);
    }
    return choose_settings(c, given).config;
  }
  TemporaryDirectory directory_;
};

std::vector<float> tuned_values(const TextModel& model, const std::string& name) {
  for (const NamedTensor& t : parameters_and_buffers(*model.model)) {
    if (t.name == name) return t.tensor.to_vector();
  }
  return {};
}

TEST_F(FineTunedRun, FollowsFromTheBase) {
  run(base_run());
  RunConfig asked = short_run("tuned");
  asked.vocabulary.tokenizer.kind = TokenizerKind::kBpe;
  asked.data.text = {path("texts")};
  asked.data.label = path("labels");
  asked.init_from = path("base");
  const Choices choices = choose_settings(asked, {});
  EXPECT_EQ(choices.config.vocabulary.tokenizer.kind, TokenizerKind::kCharacter);
  EXPECT_DOUBLE_EQ(choices.config.optimizer.rate, 0.002);
  EXPECT_EQ(choices.config.training.steps, 200);
  EXPECT_EQ(choices.config.training.average, 0);
  const RunConfig around = fitted(choices.config);
  EXPECT_EQ(around.model.kind.name, "label");
  const auto& label = around.model.settings.as<LabelConfig>();
  EXPECT_EQ(label.encoder.kind.name, "gpt");
  EXPECT_EQ(label.pooling, LabelPooling::kLast) << "a causal encoder knows the text at its end";
  EXPECT_EQ(label.encoder.settings.as<GptConfig>().dropout, 0.25f);
  ASSERT_EQ(choices.lines.size(), 2u);
  EXPECT_TRUE(
      choices.lines[0].starts_with("model: label around gpt, with the weights and the dropout of"))
      << choices.lines[0];

  GivenSettings given;
  given.add("vocabulary.kind");
  expect_error<ConfigError>([&] { choose_settings(asked, given); }, "vocabulary.kind is bpe, but");
}

TEST_F(FineTunedRun, StartsWithTheWeightsOfTheBase) {
  run(base_run());
  RunConfig config = tuned_run("tuned");
  config.training.average = 0;
  config.training.frozen = {"encoder"};
  Messages messages;
  run_training(config, messages, false);
  EXPECT_TRUE(
      messages.has("vocabulary: 8 text tokens (character) and 2 labels (line), as in init_from"))
      << messages.text;
  EXPECT_TRUE(messages.has("start: new 2: output 2")) << messages.text;
  const TextModel base = TextModel::load(path("base")), tuned = TextModel::load(path("tuned"));
  for (const NamedTensor& t : parameters(*base.model)) {
    EXPECT_EQ(t.tensor.to_vector(), tuned_values(tuned, "encoder." + t.name)) << t.name;
  }
  EXPECT_EQ(base.tokenizer("text").fingerprint(), tuned.tokenizer("text").fingerprint());
  load(path("tuned")).classify("abcd");
}

TEST_F(FineTunedRun, ResumesWithoutTheBase) {
  run(base_run());
  run(tuned_run("whole"));
  const RunConfig config = tuned_run("parts");
  std::atomic<bool> stop{false};
  StopAt observer(2, stop);
  EXPECT_EQ(run_training(config, observer, stop).end, TrainingEnd::kStopped);
  fs::remove_all(path("base"));
  Messages messages;
  run_training(config, messages, false);
  EXPECT_FALSE(messages.has("start:")) << messages.text;
  EXPECT_EQ(outcome(path("parts")), outcome(path("whole")));
  RunConfig elsewhere = config;
  elsewhere.init_from = path("other");
  run_training(elsewhere, messages, false);
  EXPECT_TRUE(messages.has("changes nothing: the run has started already")) << messages.text;
}

TEST_F(FineTunedRun, StartsFromACheckpointAsWell) {
  run(base_run());
  RunConfig config = tuned_run("tuned");
  config.init_from = path("base") / "checkpoints" / "step-4";
  config.training.frozen = {"encoder"};
  run(config);
  const SafetensorsFile at_4(config.init_from / kTrainingTensors);
  EXPECT_EQ(at_4.read(std::string(kWeightsPrefix) + "embedding.weight").to_vector(),
            tuned_values(TextModel::load(config.out), "encoder.embedding.weight"));
}

TEST_F(FineTunedRun, TheUsersOwnTokenizersMustBeThoseOfTheBase) {
  run(base_run());
  fs::create_directories(path("tuned"));
  const std::vector<std::string> letters = {"xyz"}, labels = {"yes", "no"};
  const ModelDirectory to{path("tuned")};
  train_tokenizer({.kind = TokenizerKind::kCharacter, .vocabulary = 0}, letters)
      ->save(to.tokenizer("text"));
  train_tokenizer({.kind = TokenizerKind::kLine, .vocabulary = 0}, labels)
      ->save(to.tokenizer("label"));
  RunConfig config = tuned_run("tuned");
  expect_error<ConfigError>([&] { run(config); }, "set init_vocabulary to match");
  config.init_vocabulary = VocabularyTransfer::kNew;
  run(config);
  EXPECT_EQ(TextModel::load(config.out).tokenizer("text").size(), 6u);
}

}  // namespace
}  // namespace attend
