#include "attend/train/run_config.h"

#include <gtest/gtest.h>

#include "attend/decode/alignment.h"
#include "attend/io/config.h"
#include "attend/models/label.h"
#include "attend/models/rnn.h"
#include "attend/models/text_model.h"
#include "attend/models/transformer.h"
#include "attend/train/trainer.h"
#include "tests/errors.h"
#include "tests/files.h"

namespace attend {
namespace {

// What a size is multiplied with is not known where it is read: none may be just any number.
template <typename Config>
void expect_ranges(Config config = {}) {
  for (const Field& field : fields_of(config).fields) {
    if (field.type->kind != FieldKind::kInteger) continue;
    EXPECT_NE(field.range, Range()) << field.path;
  }
  EXPECT_NO_THROW(check_ranges(config, "default"));
}

class OldRunConfig : public DirectoryTest {
 protected:
  RunConfig read(std::string_view text) {
    write(directory_ / "attend.yaml", text);
    RunConfig config;
    said_.clear();
    read_run_config(config, directory_ / "attend.yaml",
                    [this](const std::string& line) { said_ += line; });
    return config;
  }
  std::string said_;
};

TEST_F(OldRunConfig, KeysThatWereRenamedAreRead) {
  const RunConfig config = read("looks: {every: 30, sentences: 2}\nbatch: {pairs: 7}\n");
  EXPECT_EQ(config.snapshots.every, 30);
  EXPECT_EQ(config.snapshots.sentences, 2u);
  EXPECT_EQ(config.batch.records, 7u);
  EXPECT_EQ(said_, "");
  const std::string written = to_yaml(config, true);
  for (const char* old : {"looks", "pairs:", "accumulation"}) {
    EXPECT_EQ(written.find(old), std::string::npos) << old;
  }
  for (const Flag& flag : flags_of<RunConfig>()) {
    EXPECT_FALSE(flag.path.starts_with("looks") || flag.path == "training.accumulation");
  }
}

TEST_F(OldRunConfig, AccumulationIsShardsOfALargerBatch) {
  const RunConfig config = read("training: {accumulation: 4}\nbatch: {tokens: 1000, pairs: 10}\n");
  EXPECT_EQ(config.training.shards, 4u);
  EXPECT_EQ(config.training.accumulation, 1u);
  EXPECT_EQ(config.batch.tokens, 4000u);
  EXPECT_EQ(config.batch.records, 40u);
  EXPECT_EQ(said_, "training.accumulation 4 is now training.shards 4 with batch.tokens 4000");
  EXPECT_EQ(read("training: {accumulation: 1}\n").training.shards, 1u);
  EXPECT_EQ(said_, "");
  expect_error<ConfigError>([&] { read("training: {accumulation: 3}\n"); },
                            "attend.yaml: training.accumulation 3 is no longer used");
}

// As it was written when a config had the settings of every kind.
TEST_F(OldRunConfig, SettingsOfOtherKindsMayStandBesideTheModels) {
  const RunConfig config = read(
      "model:\n  preset: ''\n  kind: rnn\n  transformer: {width: 256, source_vocabulary: 90}\n"
      "  rnn: {hidden: 24, source_vocabulary: 90}\n");
  EXPECT_EQ(config.model.kind.name, "rnn");
  EXPECT_EQ(config.model.settings.as<RnnConfig>().hidden, 24u);
  expect_error<ConfigError>([&] { read("model: {kind: rnn, transformer: {width: 99}}\n"); },
                            "would change nothing");
}

// All of them, with a label model's as they were.
TEST_F(OldRunConfig, SettingsOfAllKindsAreThoseOfTheModelsOwn) {
  const RunConfig config = read(
      "model:\n  preset: tiny\n  kind: transformer\n"
      "  transformer: {width: 128, source_vocabulary: 27}\n  rnn: {hidden: 512, renamed: 3}\n"
      "  conv: {width: 256}\n"
      "  label: {target_vocabulary: 27, encoder: transformer, pooling: mean, heads: 1}\n"
      "training: {steps: 30, accumulation: 1}\n");
  EXPECT_EQ(config.model.kind.name, "transformer");
  EXPECT_EQ(config.model.settings.as<TransformerConfig>().width, 128u);
  EXPECT_EQ(config.training.steps, 30);
}

TEST_F(OldRunConfig, TheEncoderOfALabelModelMovesWithin) {
  const RunConfig config = read(
      "model:\n  kind: label\n  label: {encoder: rnn, pooling: attention, target_vocabulary: 7}\n"
      "  rnn: {hidden: 24}\n  transformer: {width: 256}\nout: \"a: b\"\ndata: {source: x.tsv}\n");
  const auto& label = config.model.settings.as<LabelConfig>();
  EXPECT_EQ(label.encoder.kind.name, "rnn");
  EXPECT_EQ(label.encoder.settings.as<RnnConfig>().hidden, 24u);
  EXPECT_EQ(label.pooling, LabelPooling::kAttention);
  EXPECT_EQ(label.unused_outputs, static_cast<size_t>(kSpecialTokens)) << "of a trained one";
  EXPECT_EQ(config.out, "a: b");
  EXPECT_EQ(config.data.source, TextFiles("x.tsv"));
  EXPECT_EQ(read("model: {kind: label, label: {encoder: conv}}\n")
                .model.settings.as<LabelConfig>()
                .unused_outputs,
            0u);
}

TEST(RunConfig, AKindGivenTwiceIsRefused) {
  RunConfig config;
  const auto error = [&config](const char* text) {
    return message_of<ConfigError>([&] { read_yaml(config, text, "run.yaml"); });
  };
  EXPECT_EQ(error("model:\n  kind: rnn\n  kind: transformer\n"),
            "run.yaml:3: 'model.kind' is set twice");
  EXPECT_EQ(error("model:\n  kind: label\n  label:\n    encoder: rnn\n    encoder.kind: conv\n"),
            "run.yaml:5: 'model.label.encoder.kind' is set twice");
}

TEST(RunConfig, EveryIntegerHasARangeThatHoldsItsDefault) {
  expect_ranges<RunConfig>();
  expect_ranges<TrainingState>();
  expect_ranges<AlignmentConfig>();
  expect_ranges<AlignmentPlace>();
  for (const ModelKind& kind : model_kinds()) {
    for (const ModelPreset& preset : kind.presets) {
      expect_ranges(ModelConfig::of_preset(preset.name));
    }
  }
}

}  // namespace
}  // namespace attend
