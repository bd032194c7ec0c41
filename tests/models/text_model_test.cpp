#include "attend/models/text_model.h"

#include <gtest/gtest.h>

#include <functional>

#include "attend/io/config.h"
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
  static TextModel small(const Tokenizers& tokenizers) {
    TextModel made;
    made.config.transformer.width = 8, made.config.transformer.heads = 2;
    made.config.transformer.encoder_layers = made.config.transformer.decoder_layers = 1;
    made.source = tokenizers.source, made.target = tokenizers.target;
    made.config.set_vocabularies(made.source->size(), made.target->size());
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
    save(small({one, one}));
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
    save(small({one, one}));
    TextModel loaded = TextModel::load(directory_);
    EXPECT_EQ(loaded.source, loaded.target);
    EXPECT_FALSE(fs::exists(files_.tokenizer("source")));
    EXPECT_FALSE(fs::exists(files_.tokenizer("target")));
    save(small({one, other}));
    loaded = TextModel::load(directory_);
    EXPECT_EQ(loaded.source->fingerprint(), one->fingerprint());
    EXPECT_EQ(loaded.target->fingerprint(), other->fingerprint());
    EXPECT_FALSE(fs::exists(files_.tokenizer()));
  }
  one->save(files_.tokenizer());
  expect_error<FormatError>([&] { TextModel::load(directory_); },
                            "both tokenizer.model and tokenizer.source.model");
}

TEST_F(TextModels, SizesBeyondAnyModelAreRefused) {
  constexpr size_t kHuge = size_t{1} << 62;
  const auto refused = [&](const auto& change, const std::string& message) {
    save_claiming([&](ModelConfig& config) { change(config.transformer); });
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
    TransformerConfig& c = config.transformer;
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
  save_claiming([](ModelConfig& config) { config.transformer.max_length = 1'048'576; });
  const size_t weights = fs::file_size(files_.weights());
  EXPECT_LT(memory_of([&] { TextModel::load(directory_); }), 2 * weights);
}

TEST_F(TextModels, EveryKindIsLoadedWithTheValuesOfItsFile) {
  const auto one = letters("abc");
  for (const char* preset : {"tiny", "bahdanau", "luong", "vanilla", "conv", "label"}) {
    TextModel made;
    made.config = ModelConfig::of_preset(preset);
    made.source = made.target = one;
    made.config.set_vocabularies(one->size(), one->size());
    Rng rng(1);
    made.model = make_model(made.config, rng);
    save(made);
    const TextModel loaded = TextModel::load(directory_);
    const auto expected = parameters(*made.model), found = parameters(*loaded.model);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].name, expected[i].name);
      ASSERT_EQ(found[i].tensor.to_vector(), expected[i].tensor.to_vector()) << found[i].name;
    }
    const Tokens tokens(one->encode("abc"), Packing::of({3}));
    EXPECT_EQ(loaded.model->logits(tokens, tokens).to_vector(),
              made.model->logits(tokens, tokens).to_vector())
        << preset;
  }
}

TEST_F(TextModels, TokenizersOfAnotherModelAreRefused) {
  const auto one = letters("abc"), other = letters("wxyz");
  save(small({one, letters("def")}));
  EXPECT_NO_THROW(TextModel::load(directory_));
  other->save(files_.tokenizer("source"));
  expect_error<FormatError>(
      [&] { TextModel::load(directory_); },
      "config.json has transformer.source_vocabulary = 6, but the tokenizer has 7 tokens");
  one->save(files_.tokenizer("source"));
  other->save(files_.tokenizer("target"));
  expect_error<FormatError>([&] { TextModel::load(directory_); },
                            "transformer.target_vocabulary = 6");
}

}  // namespace
}  // namespace attend
