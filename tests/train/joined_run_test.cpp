// Language models that are trained on pairs: each becomes a model that reads them as one sequence.
#include <gtest/gtest.h>

#include "attend/decode/translator.h"
#include "attend/models/decoder_only.h"
#include "attend/models/gpt.h"
#include "attend/train/task.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

RunConfig joined_run(const fs::path& directory) {
  RunConfig c = small_run(directory);
  GptConfig gpt;
  gpt.width = 16, gpt.layers = 1, gpt.heads = 2;
  gpt.max_length = 16;
  c.model = ModelConfig("gpt");
  c.model.settings = AnyConfig(gpt);
  return c;
}

TEST(JoinedRun, ALanguageModelFitsPairsAsADecoderOnlyModel) {
  const TemporaryDirectory temporary;
  const RunConfig given = joined_run(temporary.path());
  EXPECT_NO_THROW(given.check());
  const RunConfig config = fitted(given);
  EXPECT_EQ(config.model.kind.name, "decoder_only");
  const auto& inner = config.model.settings.as<DecoderOnlyConfig>().language_model;
  EXPECT_EQ(inner.kind.name, "gpt");
  EXPECT_EQ(inner.settings.as<GptConfig>(), given.model.settings.as<GptConfig>());
  EXPECT_EQ(fitted(config).model.kind.name, "decoder_only");
  EXPECT_EQ(fitted(small_run(temporary.path())).model.kind.name, "transformer");

  RunConfig text = given;
  text.data.text = {given.data.source};
  text.data.source = text.data.target = text.data.valid_source = text.data.valid_target = "";
  EXPECT_EQ(fitted(text).model.kind.name, "gpt");
}

TEST(JoinedRun, EveryLanguageModelPresetFitsPairs) {
  const TemporaryDirectory temporary;
  for (const std::string& name : language_model_names()) {
    for (const ModelPreset& preset : model_kind(name).presets) {
      RunConfig c = small_run(temporary.path());
      c.model = ModelConfig::of_preset(preset.name);
      EXPECT_NO_THROW(c.check()) << preset.name;
      EXPECT_EQ(fitted(c).model.kind.name, "decoder_only") << preset.name;
    }
  }
}

TEST(JoinedRun, TrainsTranslatesAndResumes) {
  const TemporaryDirectory temporary;
  RunConfig config = joined_run(temporary.path());
  Messages messages;
  run_training(config, messages, false);
  EXPECT_TRUE(messages.has("model: decoder_only around gpt, which fits the data")) << messages.text;
  EXPECT_TRUE(messages.has("task: translate (source and target)")) << messages.text;
  EXPECT_TRUE(messages.has("at most 14 tokens of source and target together")) << messages.text;
  const TextModel model = TextModel::load(config.out);
  EXPECT_EQ(model.config.kind.name, "decoder_only");
  EXPECT_EQ(&model.tokenizer("source"), &model.tokenizer("target"));
  const Translator translate({model}, {});
  EXPECT_EQ(translate(std::vector<std::string>{"abc"}).front().texts.size(), 1u);
  config.training.steps += 3;
  const RunResult more = run(config);
  EXPECT_EQ(more.first_step, 24);
  EXPECT_EQ(more.step, 27);
}

TEST(JoinedRun, PairsThatAreTooLongTogetherAreLeftOut) {
  const TemporaryDirectory temporary;
  RunConfig config = joined_run(temporary.path());
  config.model.settings.as<GptConfig>().max_length = 8;  // 6 tokens: pairs of 2 and 3 letters
  const RunPlan planned = plan(config);
  EXPECT_GT(planned.left_out, 0u);
  EXPECT_GT(planned.records, planned.left_out);
  config.model.settings.as<GptConfig>().max_length = 5;
  expect_error<DataError>([&] { run(config); }, "3 together tokens (data.longest)");
}

TEST(JoinedRun, OneSequenceHasOneVocabulary) {
  const TemporaryDirectory temporary;
  RunConfig config = joined_run(temporary.path());
  config.vocabulary.joint = false;
  expect_error<ConfigError>([&] { config.check(); },
                            "the model reads source and target as one sequence, which has one "
                            "vocabulary; leave out vocabulary.joint");
  config.vocabulary.joint = true;
  fs::create_directories(config.out);
  const ModelDirectory directory{config.out};
  const std::vector<std::string> one = {"abcde"}, two = {"abcdef"};
  const TokenizerConfig characters{.kind = TokenizerKind::kCharacter};
  train_tokenizer(characters, one)->save(directory.tokenizer("source"));
  train_tokenizer(characters, two)->save(directory.tokenizer("target"));
  expect_error<ConfigError>([&] { run(config); }, "but they have different tokenizers");
}

}  // namespace
}  // namespace attend
