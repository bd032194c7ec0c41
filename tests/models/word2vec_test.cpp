#include "attend/models/word2vec.h"

#include <gtest/gtest.h>

#include <set>

#include "attend/models/text_model.h"
#include "attend/text/tokenizer.h"
#include "tests/errors.h"

namespace attend {
namespace {

std::shared_ptr<const Tokenizer> word_tokenizer() {
  const std::vector<std::string> lines = {"the cat sat", "the cats sit"};
  return train_tokenizer({.kind = TokenizerKind::kWord, .vocabulary = 0}, lines);
}

Word2vecConfig small_vectors(size_t longest_ngram) {
  Word2vecConfig config;
  config.text_vocabulary = word_tokenizer()->size();
  config.width = 8;
  config.longest_ngram = longest_ngram;
  config.ngram_rows = 50;
  return config;
}

// "<cat>" has 3 parts of 3 characters, 2 of 4 and itself.
TEST(Word2vec, PartsOfAWordHaveItsMarksAndCountCharacters) {
  EXPECT_EQ(ngram_numbers("cat", 3, 5, 1000).size(), 6u);
  EXPECT_EQ(ngram_numbers("cat", 3, 3, 1000).size(), 3u);
  EXPECT_EQ(ngram_numbers("ä", 3, 6, 1000).size(), 1u);
  EXPECT_EQ(ngram_numbers("", 3, 6, 1000).size(), 0u);
  EXPECT_EQ(ngram_numbers("\xFF\xFF", 3, 3, 1000).size(), 2u);
  const auto cat = ngram_numbers("cat", 3, 3, 1000), cats = ngram_numbers("cats", 3, 3, 1000);
  EXPECT_EQ(cat[0], cats[0]);  // "<ca"
  EXPECT_EQ(cat[1], cats[1]);  // "cat"
  EXPECT_NE(cat[2], cats[2]);  // "at>" and "ats"
  for (const int32_t number : ngram_numbers("extraordinary", 3, 6, 7)) {
    EXPECT_TRUE(number >= 0 && number < 7);
  }
}

TEST(Word2vec, AVectorIsTheMeanOfItsWordAndItsParts) {
  Rng rng(1);
  WordVectors vectors(small_vectors(6), rng);
  const auto tokenizer = word_tokenizer();
  vectors.read_words(*tokenizer);
  const int32_t id = tokenizer->encode("cat").front();
  std::vector<double> sum(8);
  std::vector<size_t> rows = {static_cast<size_t>(id)};
  for (const int32_t part : ngram_numbers("cat", 3, 6, 50)) {
    rows.push_back(tokenizer->size() + static_cast<size_t>(part));
  }
  for (const size_t row : rows) {
    for (size_t k = 0; k < 8; ++k) {
      sum[k] += double{vectors.embedding.weight.value.data()[row * 8 + k]};
    }
  }
  const Tensor found = vectors.rows_of(Tensor::ids({id}));
  for (size_t k = 0; k < 8; ++k) {
    EXPECT_NEAR(found.data()[k], sum[k] / static_cast<double>(rows.size()), 1e-7);
  }
}

TEST(Word2vec, AWordNeverSeenHasTheVectorOfItsPartsIfThereAreAny) {
  Rng rng(1);
  Word2vecModel with(small_vectors(6), rng), without(small_vectors(0), rng);
  for (Word2vecModel* model : {&with, &without}) model->read_words("text", *word_tokenizer());
  EXPECT_EQ(with.unseen_word("catty").shape(), Shape({8}));
  EXPECT_FALSE(without.unseen_word("catty").defined());
  EXPECT_FALSE(with.unseen_word("").defined());
}

TEST(Word2vec, SpecialTokensAreZero) {
  Rng rng(1);
  const Word2vecModel model(small_vectors(0), rng);
  const Tensor rows = model.word_rows(Tensor::ids({0, 1, 2}));
  EXPECT_EQ(rows.to_vector(), std::vector<float>(24, 0.0f));
}

TEST(Word2vec, RefusesSettingsThatCannotBe) {
  Word2vecConfig config = small_vectors(2);
  expect_error<ConfigError>([&] { config.check(); }, "longest_ngram must be at least");
  config = small_vectors(0);
  config.subsample = -1;
  expect_error<ConfigError>([&] { config.check(); }, "subsample is -1");
  config = small_vectors(0);
  config.text_vocabulary = 0;
  expect_error<ConfigError>([&] { config.check(); }, "a vocabulary of 0 words");
}

}  // namespace
}  // namespace attend
