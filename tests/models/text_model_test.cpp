#include "attend/models/text_model.h"

#include <gtest/gtest.h>

#include <functional>

#include "attend/base/files.h"
#include "attend/base/storage.h"
#include "attend/base/version.h"
#include "attend/io/config.h"
#include "attend/models/transformer.h"
#include "tests/errors.h"
#include "tests/files.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

class TextModels : public DirectoryTest {
 protected:
  static std::shared_ptr<const Tokenizer> letters(const std::string& text) {
    return train_tokenizer({.kind = TokenizerKind::kCharacter}, std::vector{text});
  }
  using Letters = std::shared_ptr<const Tokenizer>;
  static TextModel small(const Letters& source, const Letters& target) {
    TextModel made;
    auto& config = made.config.settings.as<TransformerConfig>();
    config.width = 8, config.heads = 2;
    config.encoder_layers = config.decoder_layers = 1;
    made.tokenizers = {{"source", source}, {"target", target}};
    made.config.set_vocabularies({{"source", source->size()}, {"target", target->size()}});
    Rng rng(1);
    made.model = make_model(made.config, rng);
    return made;
  }
  void save(const TextModel& model) const {
    model.save_description(files_);
    model.save_weights(files_.weights());
  }

  // With a config.json that says something else than the weights.
  void save_claiming(const std::function<void(ModelConfig&)>& change) const {
    const auto one = letters("abc");
    save(small(one, one));
    ModelConfig claimed = load_model_config(files_);
    change(claimed);
    write(files_.config(), to_json(claimed));
  }
  // Bytes for tensors that were in use at once, beside those before.
  template <typename F>
  static size_t memory_of(const F& f) {
    const size_t before = pool_statistics().bytes_in_use;
    reset_peak_bytes();
    f();
    return pool_statistics().peak_bytes_in_use - before;
  }

  const ModelDirectory files_{directory_};
};

TEST_F(TextModels, TokenizersTakeThePlaceOfOthers) {
  const auto one = letters("abc"), other = letters("xyz");
  for (int round = 0; round < 2; ++round) {
    save(small(one, one));
    TextModel loaded = TextModel::load(directory_);
    EXPECT_EQ(loaded.tokenizers.at("source"), loaded.tokenizers.at("target"));
    EXPECT_FALSE(fs::exists(files_.tokenizer("source")));
    EXPECT_FALSE(fs::exists(files_.tokenizer("target")));
    save(small(one, other));
    loaded = TextModel::load(directory_);
    EXPECT_EQ(loaded.tokenizer("source").fingerprint(), one->fingerprint());
    EXPECT_EQ(loaded.tokenizer("target").fingerprint(), other->fingerprint());
    EXPECT_FALSE(fs::exists(files_.tokenizer()));
  }
  one->save(files_.tokenizer());
  expect_error<FormatError>([&] { TextModel::load(directory_); },
                            "both tokenizer.model and tokenizer.source.model");
}

TEST_F(TextModels, ADirectorySaysItsFormat) {
  const auto one = letters("abc");
  save(small(one, one));
  const std::string text = read(files_.config());
  EXPECT_EQ(peek(text, "format", "config.json"), "1");
  EXPECT_EQ(peek(text, "needs", "config.json"), "0.1.0");
  EXPECT_NO_THROW(TextModel::load(directory_));
}

TEST_F(TextModels, ADirectoryFromBeforeFormatsIsLoaded) {
  save_claiming([](ModelConfig&) {});
  EXPECT_FALSE(peek(read(files_.config()), "format", "config.json"));
  EXPECT_EQ(TextModel::load(directory_).config.kind.name, "transformer");
}

// Whatever else it holds: this version cannot know what it means.
TEST_F(TextModels, ALaterFormatIsRefusedWithTheVersionThatReadsIt) {
  const auto one = letters("abc");
  save(small(one, one));
  const auto refused = [&](const std::string& config, const std::string& needs) {
    write(files_.config(), config);
    EXPECT_EQ(
        message_of<FormatError>([&] { TextModel::load(directory_); }),
        fmt::format("{}: the model directory has format 2, which needs {}; this is Attend {}, "
                    "which reads formats up to 1. Install a later version",
                    files_.config().string(), needs, library_version()));
  };
  refused(R"({"format": 2, "needs": "0.7.0", "kind": "unheard of", "x": [1]})", "Attend 0.7.0");
  refused(R"({"format": 2})", "a later version of Attend");
}

TEST_F(TextModels, SizesBeyondAnyModelAreRefused) {
  constexpr size_t kHuge = size_t{1} << 62;
  const auto refused = [&](const auto& change, const std::string& message) {
    save_claiming([&](ModelConfig& config) { change(config.settings.as<TransformerConfig>()); });
    const auto load = [&] { TextModel::load(directory_); };
    EXPECT_EQ(message_of<ConfigError>(load), files_.config().string() + ": " + message);
  };
  using Config = TransformerConfig;
  refused([](Config& c) { c.window = (size_t{1} << 30) - 1; },
          "'transformer.window' should be a whole number from 0 to 1048576, not '1073741823'");
  refused([](Config& c) { c.width = kHuge; },
          "'transformer.width' should be a whole number from 1 to 65536, not "
          "'4611686018427387904'");
  refused([](Config& c) { c.max_length = kHuge; },
          "'transformer.max_length' should be a whole number from 1 to 1048576, not "
          "'4611686018427387904'");
  refused([](Config& c) { c.max_length = 10'000'000; },
          "'transformer.max_length' should be a whole number from 1 to 1048576, not '10000000'");
  refused([](Config& c) { c.encoder_layers = 1'000'000'000; },
          "'transformer.encoder_layers' should be a whole number from 0 to 512, not '1000000000'");
  refused([](Config& c) { c.heads = 1'000'000; },
          "'transformer.heads' should be a whole number from 1 to 1024, not '1000000'");
}

TEST_F(TextModels, SizesAreComparedWithTheWeightsBeforeMemoryIsTaken) {
  save_claiming([](ModelConfig& config) {
    auto& c = config.settings.as<TransformerConfig>();
    c.width = 65536, c.feed_forward = 262'144, c.encoder_layers = c.decoder_layers = 512;
    c.positions = PositionScheme::kLearned, c.max_length = 1'048'576;
  });
  const size_t taken = memory_of([&] {
    expect_error<FormatError>(
        [&] { TextModel::load(directory_); },
        "model.safetensors does not fit the model. missing: source_positions.weight [1048576, "
        "65536]");
  });
  EXPECT_EQ(taken, 0u);
}

// Of sinusoids: nothing in the weights tells it, and the config may say what it likes.
TEST_F(TextModels, TheLongestLengthCostsNothing) {
  save_claiming(
      [](ModelConfig& config) { config.settings.as<TransformerConfig>().max_length = 1'048'576; });
  const size_t weights = fs::file_size(files_.weights());
  EXPECT_LT(memory_of([&] { TextModel::load(directory_); }), 2 * weights);
}

TEST_F(TextModels, EveryPresetIsLoadedWithTheValuesOfItsFile) {
  const auto one = letters("abc");
  for (const ModelKind& kind : model_kinds()) {
    for (const ModelPreset& preset : kind.presets) {
      TextModel made;
      made.config = ModelConfig::of_preset(preset.name);
      ModelConfig::Vocabularies sizes;
      for (const char* column : {"source", "target", "text"}) sizes[column] = one->size();
      sizes["label"] = sizes["tags"] = one->size() - static_cast<size_t>(one->first_piece());
      made.config.set_vocabularies(sizes);
      Rng rng(1);
      made.model = make_model(made.config, rng);
      for (const ColumnSpec& column : made.model->signature().columns) {
        made.tokenizers[column.name] = one;
      }
      save(made);
      const TextModel loaded = TextModel::load(directory_);
      const auto expected = parameters_and_buffers(*made.model),
                 found = parameters_and_buffers(*loaded.model);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].name, expected[i].name);
        ASSERT_EQ(found[i].tensor.to_vector(), expected[i].tensor.to_vector()) << found[i].name;
      }
      EXPECT_TRUE(same_config(loaded.config, made.config)) << preset.name;
    }
  }
}

// Those written before have sections of all kinds.
TEST_F(TextModels, SettingsOfOtherKindsMayStandBesideItsOwn) {
  const auto one = letters("abc");
  save(small(one, one));
  const std::string text = file_contents(files_.config());
  const auto with = [&](const std::string& more) {
    write(files_.config(), text.substr(0, text.rfind('}')) + "," + more + "}");
  };
  with(R"("rnn": {"source_vocabulary": 9, "hidden": 512})");
  EXPECT_NO_THROW(TextModel::load(directory_));
  with(R"("rnn": {"hidden": 100})");
  expect_error<ConfigError>([&] { TextModel::load(directory_); },
                            "'rnn.hidden' = 100 would change nothing: the kind is transformer");
}

TEST_F(TextModels, TokenizersOfAnotherModelAreRefused) {
  const auto one = letters("abc"), other = letters("wxyz");
  save(small(one, letters("def")));
  EXPECT_NO_THROW(TextModel::load(directory_));
  other->save(files_.tokenizer("source"));
  expect_error<FormatError>(
      [&] { TextModel::load(directory_); },
      "config.json has transformer.source_vocabulary = 6, but the tokenizer has 7");
  one->save(files_.tokenizer("source"));
  other->save(files_.tokenizer("target"));
  expect_error<FormatError>([&] { TextModel::load(directory_); },
                            "transformer.target_vocabulary = 6");
}

}  // namespace
}  // namespace attend
