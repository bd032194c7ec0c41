// Searching, scoring and aligning with a model that reads source and target as one sequence.
#include <gtest/gtest.h>

#include <cmath>

#include "attend/decode/align_text.h"
#include "attend/decode/translator.h"
#include "tests/errors.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

const std::vector<std::string> kLines = {"abc", "fedcba ab", "j"};

// A translation has the same bits alone and with others, and its numbers are those of teacher
// forcing.
TEST(JoinedSequence, TranslationsAreThoseOfEachLineAlone) {
  for (const bool bidirectional : {false, true}) {
    const TextModel model = small_decoder_only_model(bidirectional);
    const Translator translate({model}, {.search = {.beam = 3, .max_length = 8}});
    const std::vector<Translation> together = translate(kLines);
    for (size_t i = 0; i < kLines.size(); ++i) {
      const Translation alone = translate(std::span(kLines).subspan(i, 1), i).front();
      ASSERT_EQ(alone.texts, together[i].texts);
      const Hypothesis& best = together[i].hypotheses.front();
      EXPECT_EQ(best.log_probability, alone.hypotheses.front().log_probability);
      const NoGrad no_grad;
      const std::vector<std::vector<int32_t>> sources = {
          model.tokenizer("source").encode(kLines[i])};
      const SpecialTokens special = model.tokenizer("target").special();
      const Tokens written = teacher_rows(one_sequence(best.tokens), special).inputs;
      const Tensor logits = model.generator().logits(model.inputs(sources), written);
      for (size_t t = 0; t < best.tokens.size(); ++t) {
        const std::vector<float> row = logits.slice_rows(t, 1).to_vector();
        const float own = row[static_cast<size_t>(best.tokens[t])];
        double sum = 0;
        for (const float logit : row) sum += std::exp(double{logit});
        EXPECT_NEAR(best.log_probabilities[t], double{own} - std::log(sum), 1e-4);
      }
    }
  }
}

// 32 positions for `<s> source <s> target`.
TEST(JoinedSequence, OutputsEndWhereThePositionsDo) {
  const TextModel model = small_decoder_only_model();
  TranslatorConfig config{.search = {.beam = 1, .min_length = 100}};
  const Translator translate({model}, config);
  const std::vector<std::string> lines = {"a", "abcdefghij", std::string(29, 'a')};
  const std::vector<Translation> all = translate(lines);
  EXPECT_EQ(all[0].hypotheses[0].tokens.size(), 26u);  // three times `<s> a` and 20 more
  EXPECT_EQ(all[1].hypotheses[0].tokens.size(), 20u);
  EXPECT_EQ(all[2].hypotheses[0].tokens.size(), 1u);
  for (const Translation& t : all) EXPECT_FALSE(t.hypotheses[0].ended);
  expect_error<DataError>([&] { translate(std::vector{std::string(30, 'a')}); },
                          "the line has 30 tokens, but the model has learned positions for 29");
}

TEST(JoinedSequence, AlignsByWhatTheTargetSeesOfTheSource) {
  const TextModel model = small_decoder_only_model();
  const std::vector<std::string> sources = {"abc", "de"}, targets = {"fg", "h"};
  const auto aligned = align_text(model, sources, targets, {}, 100);
  ASSERT_EQ(aligned[0].weights.shape(), Shape({3, 3}));
  ASSERT_EQ(aligned[1].weights.shape(), Shape({2, 2}));
  for (const AlignedText& text : aligned) {
    for (size_t t = 0; t < text.weights.rows(); ++t) {
      float sum = 0;
      for (const float weight : text.weights.slice_rows(t, 1).span()) sum += weight;
      EXPECT_NEAR(sum, 1.0f, 1e-5f);
    }
  }
  // The same weights as a map has them, but for those of the frame and of the target itself.
  const auto one = align_text(model, sources, targets, {.layer = "layers.1.self", .head = 0}, 100);
  const Trace trace = given_trace(model, sources[0], targets[0]);
  const Tensor map = attention_map(model, trace, "layers.1.self", {HeadChoice::Kind::kOne, 0});
  const auto row = map.slice_rows(4, 1).span();  // of the target's start
  EXPECT_NEAR(one[0].weights.span()[0] / one[0].weights.span()[1], row[1] / row[2], 1e-4f);
  const Translator covering({model}, {.search = {.beam = 2, .coverage_penalty = 0.2f}});
  EXPECT_EQ(covering(sources).size(), 2u);
}

}  // namespace
}  // namespace attend
