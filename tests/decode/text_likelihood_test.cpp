#include "attend/decode/text_likelihood.h"

#include "attend/base/error.h"
#include "attend/decode/score.h"
#include "attend/models/gpt.h"
#include "tests/data/files.h"

namespace attend {
namespace {

class TextLikelihoodTest : public DataFiles {
 protected:
  TextLikelihoodTest() {
    model_.config = ModelConfig("gpt");
    auto& gpt = model_.config.settings.as<GptConfig>();
    gpt.width = 16, gpt.layers = 2, gpt.heads = 2, gpt.max_length = 32, gpt.init = 0.3f;
    model_.tokenizers["text"] =
        train_tokenizer({.kind = TokenizerKind::kCharacter}, std::vector<std::string>{"abcdé \n"});
    gpt.text_vocabulary = model_.tokenizer("text").size();
    Rng rng(3);
    model_.model = make_model(model_.config, rng);
  }

  TextLikelihood of(const std::string& text, TextLikelihoodConfig config,
                    DocumentKind documents = DocumentKind::kFile) {
    return text_likelihood(model_, {.files = {write("text", text)}, .documents = documents},
                           config);
  }
  double whole(const std::string& text) {
    return score_text(model_, {}, std::vector{text}).front().scored.total;
  }
  // Of one document that fits the context; its end is a token, too.
  TextLikelihood expect_whole(const std::string& text, size_t characters, size_t bytes) {
    const TextLikelihood found = of(text, {.context = 32});
    EXPECT_EQ(found.stats.tokens, characters + 1);
    EXPECT_NEAR(found.stats.log_likelihood, whole(text), 1e-4);
    EXPECT_EQ(found.characters, characters);
    EXPECT_EQ(found.bytes, bytes);
    EXPECT_EQ(found.documents, 1u);
    return found;
  }

  TextModel model_;
};

TEST_F(TextLikelihoodTest, ATextWithinTheContextIsScoredWhole) {
  const TextLikelihood found = expect_whole("abca dbéa\n", 10, 11);
  EXPECT_NEAR(found.bits_per_character(), -whole("abca dbéa\n") / std::log(2.0) / 10, 1e-5);
  EXPECT_NEAR(found.bits_per_byte(), -whole("abca dbéa\n") / std::log(2.0) / 11, 1e-5);
}

TEST_F(TextLikelihoodTest, CountsWhatTheFileHas) { expect_whole("abca\ndbé", 8, 9); }

TEST_F(TextLikelihoodTest, CountsRepairs) {
  using namespace std::string_literals;
  const TextLikelihood found = of("ab\xff a\0b"s, {.context = 32});
  EXPECT_EQ(found.characters, 6u);
  EXPECT_EQ(found.read.invalid_utf8, 1u);
  EXPECT_EQ(found.read.nul_bytes, 1u);
  EXPECT_EQ(of("ab", {.context = 32}).read.invalid_utf8, 0u);
}

TEST_F(TextLikelihoodTest, EveryTokenCountsOnceForAnyStride) {
  const std::string text = "abcdabcdaabbccdd\nabab cdcd\n";
  for (const size_t stride : {0, 1, 3, 7, 8}) {
    const TextLikelihood found = of(text, {.context = 8, .stride = stride});
    EXPECT_EQ(found.stats.tokens, text.size() + 1) << stride;
  }
}

// With a stride of 1 each token is predicted from as many before it as the context has.
TEST_F(TextLikelihoodTest, AStrideOfOneGivesEachTokenAFullContext) {
  const std::string text = "abcdabcda\n";
  const Tokenizer& tokenizer = model_.tokenizer("text");
  std::vector<int32_t> ids = framed(tokenizer.encode(text), {true, true}, tokenizer.special());
  double sum = 0;
  for (size_t i = 1; i < ids.size(); ++i) {
    const size_t begin = i > 4 ? i - 4 : 0;
    const Tensor logits =
        model_.generator().logits(Batch(1), one_sequence(std::span(ids).subspan(begin, i - begin)));
    double total = 0;
    for (const float x : logits.slice_rows(i - begin - 1, 1).span()) total += std::exp(double{x});
    sum += double{logits.slice_rows(i - begin - 1, 1).span()[static_cast<size_t>(ids[i])]} -
           std::log(total);
  }
  EXPECT_NEAR(of(text, {.context = 4, .stride = 1}).stats.log_likelihood, sum, 1e-4);
}

TEST_F(TextLikelihoodTest, BatchesChangeNothing) {
  const std::string text = "ab\ncd\n\nabcd\na\nb\nc\nd";
  const TextLikelihood all = of(text, {.context = 4, .stride = 2}, DocumentKind::kBlank);
  const TextLikelihood few =
      of(text, {.context = 4, .stride = 2, .batch_tokens = 1}, DocumentKind::kBlank);
  EXPECT_EQ(all.documents, 2u);
  EXPECT_EQ(all.stats.log_likelihood, few.stats.log_likelihood);
}

TEST_F(TextLikelihoodTest, RefusesWhatCannotBe) {
  EXPECT_THROW(of("ab", {.context = 33}), ConfigError);  // 32 positions
  EXPECT_THROW(of("ab", {.context = 4, .stride = 5}), ConfigError);
  EXPECT_THROW(of("ab", {.context = 0}), ConfigError);
  EXPECT_THROW(of("", {.context = 4}), DataError);
}

}  // namespace
}  // namespace attend
