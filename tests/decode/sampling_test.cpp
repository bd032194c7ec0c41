#include "attend/decode/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "attend/base/rng.h"
#include "tests/decode/search_cases.h"
#include "tests/decode/toy.h"

namespace attend {
namespace {

TEST(Sampling, TokensComeUpAsProbabilitiesSay) {
  const std::vector<float> logits = {0.0f, 1.0f, 2.0f, -1.0f};
  SearchConfig config;
  const auto frequencies = [&] {
    std::map<size_t, double> counts;
    const int numbers = 20000;
    for (int i = 0; i < numbers; ++i) {
      counts[sample_token(logits, config, (i + 0.5) / numbers)] += 1.0 / numbers;
    }
    return counts;
  };
  const auto expect = [&](const std::vector<double>& powers) {
    double sum = 0;
    for (const double p : powers) sum += p;
    auto counts = frequencies();
    for (size_t i = 0; i < powers.size(); ++i) EXPECT_NEAR(counts[i], powers[i] / sum, 1e-3) << i;
  };
  const double e = std::exp(1.0);
  expect({1, e, e * e, 1 / e});
  config.temperature = 0.5f;
  expect({1, e * e, e * e * e * e, 1 / (e * e)});
  config.temperature = 1.0f;
  config.top_k = 2;
  expect({0, e, e * e, 0});
  config.top_k = 0;
  config.top_p = 0.9f;  // the first two have 0.87 of it
  expect({1, e, e * e, 0});
}

// The token at position t of sample s of line l is a function of (seed, l, s, t).
TEST(Sampling, FollowsTheStreamOfItsLineAndSample) {
  const ToyGenerator model(7, 4);
  const SearchConfig config{.n_best = 3, .sample = true, .seed = 11, .max_length = 10};
  const auto found = search(model, three_records(), config, {.lines = {5, 0, 8}});
  const size_t lines[] = {5, 0, 8};
  for (size_t s = 0; s < 3; ++s) {
    std::vector<std::vector<int32_t>> expected;
    for (size_t sample = 0; sample < 3; ++sample) {
      const RandomStream random(config.seed, lines[s] * config.n_best + sample);
      const auto state = model.start(record_number(three_records(), s));
      std::vector<int32_t> tokens = {kSpecial.start};
      while (tokens.size() <= config.max_length) {
        std::vector<float> row = model.step(*state, std::vector{tokens.back()}).to_vector();
        for (const int32_t never : {kSpecial.start, kSpecial.unknown}) row[never] = -HUGE_VALF;
        const double uniform{random.uniform(tokens.size() - 1)};
        const auto token = static_cast<int32_t>(sample_token(row, config, uniform));
        if (token == kSpecial.end) break;
        tokens.push_back(token);
      }
      expected.emplace_back(tokens.begin() + 1, tokens.end());
    }
    std::vector<std::vector<int32_t>> actual;
    for (const Hypothesis& h : found[s]) actual.push_back(h.tokens);
    std::ranges::sort(expected);
    std::ranges::sort(actual);
    EXPECT_EQ(actual, expected);
  }
}

// What all samples start with is read once.
TEST(Sampling, BranchesAfterThePrefix) {
  const ToyGenerator model(7, 4);
  const SearchConfig config{.n_best = 4, .sample = true, .min_length = 6, .max_length = 6};
  search(model, record_number(three_records(), 0), config, {.prefixes = {{3, 4, 5}}});
  EXPECT_EQ(model.steps, (std::vector<size_t>{4, 4, 4}));
}

}  // namespace
}  // namespace attend
