#include "attend/decode/penalties.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/decode/search_cases.h"
#include "tests/decode/toy.h"
#include "tests/errors.h"

namespace attend {
namespace {

TEST(Penalties, AreWhatTheirFormulasSay) {
  EXPECT_FLOAT_EQ(repetition_penalised(3.0f, 1.5f), 2.0f);
  EXPECT_FLOAT_EQ(repetition_penalised(-3.0f, 1.5f), -4.5f);
  EXPECT_FLOAT_EQ(repetition_penalised(0.0f, 1.5f), 0.0f);
  EXPECT_EQ(repetition_penalised(-HUGE_VALF, 1.5f), -HUGE_VALF);
  EXPECT_FLOAT_EQ(count_penalised(1.0f, 0, 0.5f, 0.25f), 1.0f);
  EXPECT_FLOAT_EQ(count_penalised(1.0f, 1, 0.5f, 0.25f), 0.25f);
  EXPECT_FLOAT_EQ(count_penalised(1.0f, 3, 0.5f, 0.25f), -0.25f);
}

TEST(Penalties, RepetitionCountsThePromptAndTheOthersOnlyWhatWasWritten) {
  Penaliser penalise(6);
  const std::vector<int32_t> prompt = {1, 2, 1}, written = {2, 3, 3};
  SearchConfig config;
  config.repetition_penalty = 2.0f;
  config.presence_penalty = 0.5f;
  config.frequency_penalty = 0.25f;
  for (int twice = 0; twice < 2; ++twice) {  // counts nothing from the time before
    std::vector<float> row = {1, 2, 3, 4, 5, 6};
    const std::vector<ChangedLogit> changed = penalise(config, prompt, written, row);
    EXPECT_EQ(row, (std::vector<float>{1, 1, 1.5f - 0.75f, 2 - 1, 5, 6}));
    ASSERT_EQ(changed.size(), 3u);
    for (const auto [token, before] : changed) EXPECT_EQ(before, static_cast<float>(token + 1));
  }
  config.repetition_penalty = 1.0f;
  std::vector<float> row = {1, 2, 3, 4, 5, 6};
  penalise(config, prompt, written, row);
  EXPECT_EQ(row, (std::vector<float>{1, 2, 3 - 0.75f, 4 - 1, 5, 6}));
}

// Greedy, written out: penalised logits choose, and log-probabilities are the model's own.
TEST(Penalties, GuideASearchWhoseLogProbabilitiesStayTheModels) {
  const ToyGenerator model(9, 3);
  SearchConfig config{.beam = 1, .min_length = 12, .max_length = 12};
  config.repetition_penalty = 1.3f;
  config.presence_penalty = 0.4f;
  config.frequency_penalty = 0.7f;
  const std::vector<int32_t> prefix = {5, 7, 5};
  const Hypothesis found =
      search(model, record_number(three_records(), 0), config, {.prefixes = {prefix}})
          .front()
          .front();
  ASSERT_EQ(found.tokens.size(), 12u);
  const auto state = model.start(record_number(three_records(), 0));
  std::vector<int32_t> read = {kSpecial.start};
  double total = 0, penalised_total = 0;
  for (size_t t = 0; t < found.tokens.size(); ++t) {
    const std::vector<float> own = model.step(*state, std::vector{read.back()}).to_vector();
    std::vector<double> row(own.begin(), own.end());
    const std::vector<double> as_it_is = row;
    std::vector<int> counts(row.size(), 0);
    for (size_t i = prefix.size(); i < t; ++i) ++counts[found.tokens[i]];
    for (size_t v = 0; v < row.size() && t >= prefix.size(); ++v) {
      const bool seen = std::ranges::count(std::span(found.tokens).first(t), int32_t(v)) > 0;
      if (seen) row[v] = row[v] > 0 ? row[v] / 1.3 : row[v] * 1.3;
      row[v] -= counts[v] * 0.7 + (counts[v] > 0 ? 0.4 : 0);
    }
    const auto log_probability = [](const std::vector<double>& values, int32_t token) {
      double sum = 0;
      for (const double x : values) sum += std::exp(x);
      return values[token] - std::log(sum);
    };
    if (t >= prefix.size()) {
      for (size_t v = 3; v < row.size(); ++v) EXPECT_LE(row[v], row[found.tokens[t]] + 1e-5);
    }
    EXPECT_NEAR(found.log_probabilities[t], log_probability(as_it_is, found.tokens[t]), 1e-4) << t;
    total += log_probability(as_it_is, found.tokens[t]);
    penalised_total += log_probability(row, found.tokens[t]);
    read.push_back(found.tokens[t]);
  }
  EXPECT_NEAR(found.log_probability, total, 1e-3);
  EXPECT_NEAR(found.score, penalised_total / 12, 1e-3);
}

// A record with penalties beside one without: neither sees the other.
TEST(Penalties, AreEachRecordsOwn) {
  const ToyGenerator model(9, 3);
  SearchConfig plain{.beam = 3, .n_best = 2, .max_length = 10}, penalised = plain, sampled = plain;
  penalised.frequency_penalty = 1.5f;
  sampled.sample = true;
  sampled.repetition_penalty = 1.4f;
  const std::vector<SearchConfig> configs = {plain, penalised, sampled};
  const auto together = search(model, three_records(), configs, {});
  for (size_t i = 0; i < 3; ++i) {
    const auto alone = search(model, record_number(three_records(), i), configs[i], {.lines = {i}});
    expect_same(together[i], alone.front());
  }
}

TEST(Penalties, MustBeFinite) {
  SearchConfig config;
  config.repetition_penalty = 0.0f;
  EXPECT_THROW(config.check(), ConfigError);
  config.repetition_penalty = 1.0f;
  config.presence_penalty = HUGE_VALF;
  EXPECT_THROW(config.check(), ConfigError);
  config.presence_penalty = 0.0f;
  config.frequency_penalty = std::nanf("");
  EXPECT_THROW(config.check(), ConfigError);
  config.frequency_penalty = -1.0f;
  EXPECT_NO_THROW(config.check());
}

}  // namespace
}  // namespace attend
