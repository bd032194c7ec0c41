#include "attend/decode/ensemble.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "tests/decode/search_cases.h"
#include "tests/decode/toy.h"
#include "tests/errors.h"
#include "tests/models/seq2seq.h"

namespace attend {
namespace {

constexpr size_t kEnsembleVocabulary = 6;

TEST(Ensemble, OfOneModelTwiceIsThatModel) {
  const auto model = std::make_shared<ToyGenerator>(kEnsembleVocabulary, 11);
  SearchConfig config;
  config.beam = 3;
  config.max_length = 8;
  const auto alone = search(*model, three_records(), config);
  const Ensemble twice({model, model});
  const auto both = search(twice, three_records(), config);
  for (size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(both[s][0].tokens, alone[s][0].tokens);
    EXPECT_NEAR(both[s][0].score, alone[s][0].score, 1e-5);
  }
}

TEST(Ensemble, IsTheMeanOfProbabilities) {
  const auto a = std::make_shared<ToyGenerator>(kEnsembleVocabulary, 12);
  const auto b = std::make_shared<ToyGenerator>(kEnsembleVocabulary, 13);
  const Ensemble both({a, b});
  const std::vector<int32_t> start = {kSpecial.start, kSpecial.start, kSpecial.start};
  const auto row_of = [&](const Generator& g) {
    const auto state = g.start(three_records());
    return g.step(*state, start).to_vector();
  };
  const std::vector<float> x = row_of(*a), y = row_of(*b), z = row_of(both);
  double sum_x = 0, sum_y = 0;
  for (size_t i = 0; i < kEnsembleVocabulary; ++i) sum_x += std::exp(x[i]), sum_y += std::exp(y[i]);
  for (size_t i = 0; i < kEnsembleVocabulary; ++i) {
    EXPECT_NEAR(z[i], std::log((std::exp(x[i]) / sum_x + std::exp(y[i]) / sum_y) / 2), 1e-5);
  }
}

// A state goes where those of its models go.
TEST(Ensemble, AdmitsReordersAndRewinds) {
  const auto a = std::make_shared<ToyGenerator>(kEnsembleVocabulary, 12);
  const auto b = std::make_shared<ToyGenerator>(kEnsembleVocabulary, 13);
  const Ensemble both({a, b});
  const Batch sources = three_records();
  const auto logits_after = [&](size_t record, const std::vector<int32_t>& tokens) {
    const auto state = both.start(record_number(sources, record));
    return both.step(*state, one_sequence(tokens), StepRows::kLast).to_vector();
  };
  const auto state = both.start(record_number(sources, 0));
  both.step(*state, std::vector<int32_t>{1});
  state->admit(record_number(sources, 2));
  EXPECT_EQ(state->size(), 2u);
  EXPECT_EQ(state->lengths(), (std::vector<int32_t>{1, 0}));
  state->reorder(std::vector<size_t>{0, 0, 1});
  TokenLines lines;
  for (const std::vector<int32_t>& line :
       std::vector<std::vector<int32_t>>{{3}, {4, 5}, {1, 3, 4}}) {
    lines.add(line);
  }
  const Tensor all = both.step(*state, lines.tokens(), StepRows::kAll);
  ASSERT_EQ(all.shape(), Shape({6, kEnsembleVocabulary}));
  EXPECT_EQ(all.slice_rows(0, 1).to_vector(), logits_after(0, {1, 3}));
  EXPECT_EQ(all.slice_rows(1, 1).to_vector(), logits_after(0, {1, 4}));
  EXPECT_EQ(all.slice_rows(5, 1).to_vector(), logits_after(2, {1, 3, 4}));
  EXPECT_EQ(state->lengths(), (std::vector<int32_t>{2, 3, 3}));
  state->rewind(std::vector<int32_t>{2, 1, 0});
  EXPECT_EQ(state->lengths(), (std::vector<int32_t>{2, 1, 0}));
  const Tensor again = both.step(*state, std::vector<int32_t>{5, 5, 1});
  EXPECT_EQ(again.slice_rows(0, 1).to_vector(), logits_after(0, {1, 3, 5}));
  EXPECT_EQ(again.slice_rows(1, 1).to_vector(), logits_after(0, {1, 5}));
  EXPECT_EQ(again.slice_rows(2, 1).to_vector(), logits_after(2, {1}));
}

TEST(Ensemble, ForcingGivesWhatStepsGive) {
  const Ensemble both({std::make_shared<ToyGenerator>(kEnsembleVocabulary, 12),
                       std::make_shared<ToyGenerator>(kEnsembleVocabulary, 13)});
  const Tokens written(std::vector<int32_t>{1, 3, 4, 1, 1, 5}, Packing::of({3, 1, 2}));
  const auto state = both.start(three_records());
  EXPECT_EQ(both.logits(three_records(), written).to_vector(),
            both.step(*state, written, StepRows::kAll).to_vector());
}

TEST(Ensemble, TheLossHasGradientsInAllModels) {
  Rng rng(1);
  const auto a = std::make_shared<Transformer>(small_transformer(), rng);
  const auto b = std::make_shared<Transformer>(small_transformer(), rng);
  const Ensemble both({a, b});
  const Batch inputs("source", some_tokens({3, 2}, kSourceTokens, 1));
  const TeacherRows rows = teacher_rows(some_tokens({4, 1}, kTargetTokens, 2), kSpecial);
  const auto loss = [&] { return cross_entropy(both.logits(inputs, rows.inputs), rows.labels); };
  backward(loss());
  for (const auto& model : {a, b}) {
    const NamedTensor output = parameters(*model).back();
    ASSERT_TRUE(output.tensor.grad().defined()) << output.name;
    const float slope_here = output.tensor.grad().span()[0];
    const NoGrad no_grad;
    float& value = output.tensor.span()[0];
    const float before = value, step = 2e-3f;
    value = before + step;
    const float above = loss().item();
    value = before - step;
    const float below = loss().item();
    value = before;
    EXPECT_NEAR(slope_here, (above - below) / (2 * step), 2e-3f);
  }
}

TEST(Ensemble, ErrorsNameTheVocabularies) {
  expect_error<ConfigError>([] { Ensemble({}); }, "no model");
  expect_error<ConfigError>(
      [&] {
        Ensemble({std::make_shared<ToyGenerator>(4, 1), std::make_shared<ToyGenerator>(5, 1)});
      },
      "4 and 5 tokens");
}

}  // namespace
}  // namespace attend
