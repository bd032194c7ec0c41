#include "attend/train/task.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attend/data/windows.h"
#include "attend/inspect/snapshot.h"
#include "attend/io/config.h"
#include "attend/models/gpt.h"
#include "attend/models/label.h"
#include "tests/data/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

Signature signature_of_columns(std::vector<ColumnSpec> columns) { return {std::move(columns), {}}; }

TEST(Task, FollowsFromWhatTheModelReadsAndWrites) {
  EXPECT_EQ(task_of_columns(signature_of(ModelConfig("transformer"))).name, "translate");
  EXPECT_EQ(task_of_columns(signature_of(ModelConfig("label"))).name, "classify");
  EXPECT_EQ(task_of_columns(signature_of_columns({{.name = "text", .written = true}})).name,
            "language_model");
  expect_error<ConfigError>([] { task_of_columns(signature_of_columns({{.name = "image"}})); },
                            "no task has the columns of this model: image");
  for (const auto& task : tasks()) {
    EXPECT_NO_THROW(objective_kind(task->objective)) << task->name;
    EXPECT_EQ(task->metrics.front(), Metric::kLoss);
  }
}

TEST(Task, DataOfAnotherTaskAreRefusedWithWhatWouldFit) {
  RunConfig config;
  config.out = "model";
  config.model = ModelConfig("bert");
  config.data.source = "reviews", config.data.target = "answers";
  expect_error<ConfigError>([&] { config.check(); },
                            "the model needs text (task masked), but the data has source and "
                            "target (task translate); give --text FILE, or choose another model "
                            "with --preset: ");
  config = {};
  config.out = "model";
  config.data.text = {"reviews"};
  EXPECT_EQ(task_of(config, signature_of(config.model)).name, "span_corruption");
  config.data.label = "stars";  // from the encoder of the same model
  EXPECT_EQ(fitted(config).model.kind.name, "label");
  EXPECT_NO_THROW(config.check());
  config.data = {};
  expect_error<ConfigError>([&] { config.check(); },
                            "there is no text to train on; give --source FILE --target FILE");
  config.model = ModelConfig("label");
  config.data.text = {"reviews"};
  config.validation.metric = Metric::kBleu;
  expect_error<ConfigError>([&] { config.check(); },
                            "validation.metric bleu does not fit the task classify; choose loss, "
                            "accuracy");
}

class TaskTest : public DataFiles {
 protected:
  // Texts and what is said of them.
  RunConfig label_run() const {
    RunConfig config;
    config.out = directory_ / "model";
    config.model = ModelConfig("label");
    auto& encoder =
        config.model.settings.as<LabelConfig>().encoder.settings.as<TransformerConfig>();
    encoder.width = 16, encoder.heads = 2, encoder.encoder_layers = 1, encoder.feed_forward = 32;
    config.data.text = {write("texts", "a fine film\na dull film\nfine , fine\ndull and long\n")};
    config.data.label = write("labels", "very good\nbad\nvery good\nbad\n");
    config.data.valid_text = config.data.text;
    config.data.valid_label = config.data.label;
    config.vocabulary.tokenizer.kind = TokenizerKind::kWord;
    config.training.steps = 60;
    config.training.label_smoothing = 0;
    config.optimizer.rate = 0.01;
    config.schedule.warmup = 5;
    config.validation.metric = Metric::kAccuracy;
    config.validation.every = 30;
    return config;
  }
};

TEST_F(TaskTest, ClassifiersLearnLabels) {
  RunConfig config = label_run();
  Messages messages;
  const RunResult result = run_training(config, messages, false);
  EXPECT_EQ(result.best_score, 100.0);
  EXPECT_TRUE(messages.has("task: classify (text and label), objective label")) << messages.text;
  EXPECT_TRUE(messages.has("2 labels (line)")) << messages.text;
  EXPECT_TRUE(messages.has("data: 4 texts, 12 text tokens")) << messages.text;
  const TextModel model = TextModel::load(config.out);
  EXPECT_EQ(model.classifier().labels(), 2u);
  EXPECT_EQ(model.tokenizer("label").kind(), TokenizerKind::kLine);
}

TEST_F(TaskTest, LabelsMayStillBeGivenAsTargets) {
  RunConfig config = label_run();
  config.training.steps = 3;
  run(config);
  const auto expected = outcome(config.out);
  DataConfig& data = config.data;
  config.out = directory_ / "other";
  data.source = data.text.front(), data.target = data.label;
  data.valid_source = data.valid_text.front(), data.valid_target = data.valid_label;
  data.text.clear(), data.valid_text.clear();
  data.label = data.valid_label = "";
  run(config);
  EXPECT_EQ(outcome(config.out), expected);
  data.text = {data.source};
  expect_error<ConfigError>([&] { run(config); }, "data.text and data.source are both given");
}

TEST_F(TaskTest, ALabelOfSeveralTokensNamesItsLine) {
  RunConfig config = label_run();
  config.vocabulary.target_kind = TokenizerKind::kWord;
  expect_error<DataError>([&] { run(config); }, "labels:1: a label of 2 tokens");
  EXPECT_FALSE(fs::exists(config.out));
}

TEST_F(TaskTest, LabelsOfValidationMustBeKnown) {
  RunConfig config = label_run();
  config.data.valid_label = write("others", "worse\nfair\nworse\nfair\n");
  expect_error<DataError>([&] { run(config); }, "none of the 4 labels of the validation text");
}

TEST_F(TaskTest, SettingsOfOtherTasksAreRefused) {
  RunConfig config = label_run();
  config.data.context = 64;
  expect_error<ConfigError>([&] { run(config); },
                            "data.context is 64, but the task classify does not use it");
  config = small_run(directory_);
  config.data.overlap = 5;
  expect_error<ConfigError>([&] { run(config); }, "data.overlap is 5");
  EXPECT_FALSE(fs::exists(config.out));
}

TEST_F(TaskTest, LanguageModelsReadWindowsOfTheirContext) {
  RunConfig config;
  config.data.text = {write("book", "abcde\nfgh\n")};
  config.data.context = 4;
  config.vocabulary.tokenizer.kind = TokenizerKind::kCharacter;
  Signature signature = signature_of_columns({{.name = "text", .written = true}});
  const Task& task = task_of(config, signature);
  ASSERT_EQ(task.name, "language_model");
  const Tokenizers tokenizers = task.train_tokenizers(config);
  const auto corpus = [&] {
    return open_corpus(*task.source(config, signature, tokenizers, Split::kTraining),
                       directory_ / "corpus");
  };
  const Corpus windows = corpus();
  EXPECT_EQ(windows.columns()[0].items, 10u + 1u) << "the ends of lines, and of the document";
  EXPECT_EQ(windows.columns()[0].unknown, 0u);
  EXPECT_EQ(windows.size(), 3u);
  EXPECT_TRUE(task.limits(config, signature).empty());

  signature.columns[0].positions = 3;
  EXPECT_EQ(corpus().size(), 4u);
  EXPECT_EQ(task.limits(config, signature).front(),
            "a context of 3 tokens, not 4: the model has no more positions");
  config.data.overlap = 3;  // the model has no more positions
  expect_error<ConfigError>([&] { task.check(config, signature); }, "data.overlap is 3");
  config.data.overlap = 0;
  config.data.held_out = 0.4;
  EXPECT_TRUE(task.has_text(config.data, Split::kValidation));
  const Corpus kept = corpus();
  const Corpus valid = open_corpus(*task.source(config, signature, tokenizers, Split::kValidation),
                                   directory_ / "valid");
  EXPECT_EQ(kept.columns()[0].items + valid.columns()[0].items, 12u);
  config.data.valid_text = config.data.text;
  expect_error<ConfigError>([&] { task.check(config, signature); }, "not both");
  config.data.valid_text.clear();
  config.vocabulary.tokenizer.kind = TokenizerKind::kLine;
  expect_error<ConfigError>([&] { task.check(config, signature); },
                            "choose bpe, unigram, byte_bpe, character or byte");
  config.vocabulary.tokenizer.kind = TokenizerKind::kWordpiece;
  expect_error<ConfigError>([&] { task.check(config, signature); }, "wordpiece loses white space");
}

TEST_F(TaskTest, ByteBpeOfALanguageModelLosesNothing) {
  RunConfig config;
  const std::string text = "ab  ab\tab\n\n  ab ab \xc3\xa4\n";
  config.data.text = {write("book", text)};
  config.data.context = 100;
  config.vocabulary.tokenizer.kind = TokenizerKind::kByteBpe;
  config.vocabulary.tokenizer.vocabulary = 261;
  const Signature signature = signature_of_columns({{.name = "text", .written = true}});
  const Task& task = task_of(config, signature);
  task.check(config, signature);
  const Tokenizers tokenizers = task.train_tokenizers(config);
  EXPECT_EQ(tokenizers.at("text")->size(), 261u);
  const Corpus corpus = open_corpus(*task.source(config, signature, tokenizers, Split::kTraining),
                                    directory_ / "corpus");
  ASSERT_EQ(corpus.size(), 1u);
  std::vector<int32_t> ids;
  corpus.append(0, 0, ids);
  EXPECT_EQ(tokenizers.at("text")->decode(ids), text);
}

// A window fills the positions, and what is looked at begins with a start as well.
TEST_F(TaskTest, SnapshotsOfALanguageModelFitItsPositions) {
  RunConfig config;
  config.out = directory_ / "model";
  config.data.text = {write("book", std::string(60, 'a') + std::string(60, 'b'))};
  config.vocabulary.tokenizer.kind = TokenizerKind::kCharacter;
  config.model = ModelConfig("gpt");
  auto& gpt = config.model.settings.as<GptConfig>();
  gpt.width = 16, gpt.heads = 2, gpt.layers = 1, gpt.max_length = 8;
  config.training.steps = 2;
  config.snapshots.every = 1;
  Messages messages;
  run_training(config, messages, false);
  EXPECT_EQ(snapshot_steps({config.out}), (std::vector<int64_t>{1, 2})) << messages.text;
}

// Pairs that validation has are not trained on, whatever it measures.
TEST_F(TaskTest, PairsAndLabelsCanBeHeldOut) {
  RunConfig config = small_run(directory_);
  config.training.steps = 8;
  config.data.valid_source = config.data.valid_target = "";
  config.data.held_out = 0.2;
  Messages messages;
  const RunResult result = run_training(config, messages, false);
  EXPECT_GT(result.best_step, 0);
  size_t kept = 0, held = 0;
  for (const auto& [what, count] : {std::pair("data: ", &kept), {"validation: ", &held}}) {
    const size_t at = messages.text.find(what);
    ASSERT_NE(at, std::string::npos) << messages.text;
    *count = std::stoul(messages.text.substr(at + std::string_view(what).size()));
  }
  EXPECT_EQ(kept + held, 200u);
  EXPECT_GT(held, 20u);

  config.data.valid_source = config.data.source, config.data.valid_target = config.data.target;
  expect_error<ConfigError>([&] { run(config); }, "give data.valid_source or data.held_out");
  config = label_run();
  config.data.valid_text.clear(), config.data.valid_label = "";
  config.data.held_out = 1e-6;
  expect_error<DataError>([&] { run(config); }, "leaves no text for validation; hold out more");
}

}  // namespace
}  // namespace attend
