#include "attend/models/text_model.h"

#include <gtest/gtest.h>

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
