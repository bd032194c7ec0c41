// Vectors of texts and words, by any model.
#include "attend/decode/embed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "attend/models/label.h"
#include "attend/models/word2vec.h"
#include "attend/ops/linear.h"
#include "attend/tensor/tape.h"
#include "tests/decode/text_model.h"
#include "tests/errors.h"
#include "tests/models/small_settings.h"

namespace attend {
namespace {

TextModel word_model(size_t longest_ngram = 0) {
  const std::vector<std::string> lines = {"king queen man woman apple"};
  const auto tokenizer = train_tokenizer({.kind = TokenizerKind::kWord, .vocabulary = 0}, lines);
  TextModel made;
  made.config = ModelConfig("word2vec");
  Word2vecConfig& config = made.config.settings.as<Word2vecConfig>();
  config.width = 4;
  config.longest_ngram = longest_ngram;
  config.ngram_rows = 20;
  made.config.set_vocabularies({{"text", tokenizer->size()}});
  made.tokenizers = {{"text", tokenizer}};
  Rng rng(1);
  made.model = make_model(made.config, rng);
  made.read_words();
  return made;
}

void set_vector(const TextModel& model, std::string_view word, std::array<float, 4> vector) {
  const auto id = static_cast<size_t>(model.tokenizer("text").encode(word).front());
  for (const NamedTensor& p : parameters(*model.model)) {
    if (p.name != "embedding.weight") continue;
    std::ranges::copy(vector, p.tensor.data() + id * 4);
  }
}

TextModel royal_model() {
  TextModel model = word_model();
  set_vector(model, "king", {1, 0, 1, 0});
  set_vector(model, "queen", {0, 1, 1, 0});
  set_vector(model, "man", {1, 0, 0, 0});
  set_vector(model, "woman", {0, 1, 0, 0});
  set_vector(model, "apple", {0, 0, 0, 1});
  return model;
}

std::vector<std::string> texts_of(const std::vector<WordNeighbours::Word>& words) {
  std::vector<std::string> texts;
  for (const auto& word : words) texts.push_back(word.text);
  return texts;
}

TEST(Neighbours, AreSortedByTheirCosine) {
  const WordNeighbours find(royal_model());
  const auto near = find("king", 2);
  EXPECT_EQ(texts_of(near), (std::vector<std::string>{"man", "queen"}));
  EXPECT_NEAR(near[0].similarity, std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(near[1].similarity, 0.5, 1e-6);
  EXPECT_EQ(find("king", 99).size(), 4u);  // not itself, not <unk>, <s> and </s>
}

TEST(Neighbours, SolveAnalogies) {
  const WordNeighbours find(royal_model());
  EXPECT_EQ(texts_of(find("king - man + woman", 1)), std::vector<std::string>{"queen"});
  EXPECT_EQ(texts_of(find("  king -  man\t+ woman ", 1)), std::vector<std::string>{"queen"});
}

TEST(Neighbours, SayWhichWordHasNoVectorUnlessItsPartsHave) {
  const WordNeighbours find(royal_model());
  EXPECT_EQ(message_of<DataError>([&] { find("king - knave", 1); }),
            "neighbours: 'knave' is not in the vocabulary of the model");
  EXPECT_EQ(message_of<DataError>([&] { find(" ", 1); }), "neighbours: a blank query; give a word");
  const WordNeighbours by_parts(word_model(6));
  EXPECT_EQ(by_parts("kings", 3).size(), 3u);
}

// A model that was never asked for its table tells it all the same.
TEST(Neighbours, AreThoseOfAnyModelsTable) {
  const TextModel model = small_text_model(TokenizerKind::kCharacter, {"abcdef"});
  for (const std::string column : {"source", "target"}) {
    const Tensor table = token_vectors(model, column);
    EXPECT_EQ(table.shape(), Shape({model.tokenizer(column).size(), 16}));
    const WordNeighbours find(model, column);
    EXPECT_EQ(find("a", 2).size(), 2u);
    EXPECT_EQ(find("ab", 2).size(), 2u);  // the mean of two tokens
  }
  expect_error<ConfigError>([&] { token_vectors(model, "label"); }, "the model has no label");
}

TEST(EmbedTexts, DoNotDependOnTheirBatch) {
  const TextModel model = small_text_model(TokenizerKind::kCharacter, {"abcdef"});
  const std::vector<std::string> texts = {"abc", "f", "abcdefabcdef", "", "ba"};
  for (const EmbeddingPooling pooling :
       {EmbeddingPooling::kMean, EmbeddingPooling::kFirst, EmbeddingPooling::kLast}) {
    const Tensor all = embed_texts(model, texts, {.pooling = pooling});
    ASSERT_EQ(all.shape(), Shape({5, 16}));
    for (size_t i = 0; i < texts.size(); ++i) {
      const Tensor one = embed_texts(model, std::span(&texts[i], 1), {.pooling = pooling});
      EXPECT_EQ(one.to_vector(), all.slice_rows(i, 1).to_vector()) << i;
    }
  }
}

TextModel model_that_pools(LabelPooling pooling) {
  const std::vector<std::string> lines = {"abcdef"};
  TextModel made;
  made.config = ModelConfig("label");
  make_small(made.config.settings);
  made.config.settings.as<LabelConfig>().pooling = pooling;
  made.tokenizers = {{"text", train_tokenizer({.kind = TokenizerKind::kCharacter}, lines)},
                     {"label", train_tokenizer({.kind = TokenizerKind::kLine}, lines)}};
  made.config.set_vocabularies({{"text", made.tokenizer("text").size()}, {"label", 1}});
  Rng rng(1);
  made.model = make_model(made.config, rng);
  return made;
}

TEST(EmbedTexts, AreWeighedByTheQueryThatAModelLearned) {
  const TextModel model = model_that_pools(LabelPooling::kAttention);
  const std::vector<std::string> texts = {"abc", "f", "abcdefabcdef", "", "ba"};
  const EmbeddingOptions options{.pooling = EmbeddingPooling::kAttention};
  const Tensor all = embed_texts(model, texts, options);
  EXPECT_NE(all.to_vector(), embed_texts(model, texts).to_vector());
  for (size_t i = 0; i < texts.size(); ++i) {
    const Tensor one = embed_texts(model, std::span(&texts[i], 1), options);
    EXPECT_EQ(one.to_vector(), all.slice_rows(i, 1).to_vector()) << i;
  }
  // What the output layer reads: the label's logits follow from the vector alone.
  const NoGrad no_grad;
  const Tokenizer& tokenizer = model.tokenizer("text");
  TokenLines lines;
  for (const std::string& text : {texts[0], texts[2]}) {
    lines.add(framed(tokenizer.encode(text), model.read()->framing, tokenizer.special()));
  }
  const Tensor logits = model.classifier().label_logits({"text", lines.tokens()});
  Tensor weight, bias;
  for (const NamedTensor& p : parameters(*model.model)) {
    if (p.name == "output.weight") weight = p.tensor;
    if (p.name == "output.bias") bias = p.tensor;
  }
  for (const auto& [row, text] : {std::pair<size_t, size_t>{0, 0}, {1, 2}}) {
    EXPECT_NEAR(linear(all.slice_rows(text, 1), weight, bias).item(),
                logits.slice_rows(row, 1).item(), 1e-5);
  }
}

TEST(EmbedTexts, NeedALearnedQueryForAttention) {
  const std::vector<std::string> texts = {"abc"};
  const EmbeddingOptions options{.pooling = EmbeddingPooling::kAttention};
  const TextModel mean = model_that_pools(LabelPooling::kMean);
  expect_error<ConfigError>([&] { embed_texts(mean, texts, options); },
                            "and this label model has none; use mean, first or last");
  expect_error<ConfigError>([&] { embed_texts(royal_model(), texts, options); },
                            "and this word2vec model has none");
}

TEST(EmbedTexts, AreMeansOfWordsWhereAWordHasOneVector) {
  const TextModel model = royal_model();
  const std::vector<std::string> texts = {"man woman", "", "apple", "unheard"};
  EXPECT_EQ(embed_texts(model, texts).to_vector(),
            (std::vector<float>{0.5f, 0.5f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}));
  const float half = std::sqrt(0.5f);
  EXPECT_EQ(embed_texts(model, texts, {.normalize = true}).slice_rows(0, 1).to_vector(),
            (std::vector<float>{half, half, 0, 0}));
}

TEST(EmbedTokens, AreTheRowsOfAText) {
  const TextModel model = royal_model();
  const std::vector<std::string> texts = {"man king", ""};
  const std::vector<TokenRows> found = embed_tokens(model, texts);
  EXPECT_EQ(found[0].pieces, (std::vector<std::string>{"man", "king"}));
  EXPECT_EQ(found[0].rows.to_vector(), (std::vector<float>{1, 0, 0, 0, 1, 0, 1, 0}));
  EXPECT_TRUE(found[1].pieces.empty());
}

TEST(EmbedTexts, NeedAnEncoder) {
  const std::vector<std::string> texts = {"a"};
  expect_error<ConfigError>([&] { embed_texts(toy_language_model(), texts); }, "has no encoder");
}

TEST(Cosine, OfZeroIsZero) {
  const std::vector<float> a = {3, 4}, zero = {0, 0};
  EXPECT_NEAR(cosine(a, a), 1, 1e-12);
  EXPECT_EQ(cosine(a, zero), 0);
}

}  // namespace
}  // namespace attend
