// Hypotheses that grow past what a model reads at once.
#include <gtest/gtest.h>

#include "attend/decode/frontier.h"
#include "attend/models/transformer.h"
#include "tests/decode/search_cases.h"
#include "tests/decode/toy.h"
#include "tests/errors.h"
#include "tests/inspect/small_language_model.h"

namespace attend {
namespace {

SearchRuntime rolling(size_t window, Prefixes prefixes) {
  return {.prefixes = std::move(prefixes), .window = window, .score_prefixes = false};
}

// Greedy, with a fresh state whenever the window is full.
std::vector<int32_t> written_out(const Generator& model, const std::vector<int32_t>& prefix,
                                 size_t window, size_t length) {
  std::vector<int32_t> all = {kSpecial.start};
  all.insert(all.end(), prefix.begin(), prefix.end());
  auto state = model.start(Batch(1));
  std::vector<int32_t> to_read = all;
  if (to_read.size() > window) to_read.erase(to_read.begin(), to_read.end() - window);
  size_t read = 0;
  while (all.size() < 1 + length) {
    Tensor logits;
    for (const int32_t token : to_read) logits = model.step(*state, std::vector{token});
    read += to_read.size();
    std::vector<float> row = logits.to_vector();
    for (const int32_t never : {kSpecial.start, kSpecial.unknown, kSpecial.end}) {
      row[never] = -HUGE_VALF;
    }
    all.push_back(static_cast<int32_t>(std::ranges::max_element(row) - row.begin()));
    to_read = {all.back()};
    if (read < window) continue;
    state = model.start(Batch(1));
    to_read.assign(all.end() - std::max<ptrdiff_t>(window / 2, 1), all.end());
    read = 0;
  }
  return {all.begin() + 1, all.end()};
}

void expect_rolls(const Generator& model) {
  const Prefixes prefixes = {{}, {3, 4, 5}, {5, 4, 3, 6, 7, 3, 4, 5, 6, 7, 3, 5}};
  for (const size_t window : {1u, 2u, 5u, 8u}) {
    const SearchConfig config{.beam = 1, .min_length = 30, .max_length = 30};
    const auto found = search(model, Batch(3), config, rolling(window, prefixes));
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(found[i].front().tokens, written_out(model, prefixes[i], window, 30))
          << window << " " << i;
    }
  }
}

TEST(Window, GoesOnAsAFreshStateThatReadTheLastHalf) {
  expect_rolls(ToyGenerator(9, 6));
  Rng rng(3);
  const SmallLanguageModel model(9, rng);
  expect_rolls(model);
}

TEST(Window, IsReadInOneStep) {
  const ToyGenerator model(9, 6);
  const SearchConfig config{.beam = 1, .min_length = 12, .max_length = 12};
  search(model, Batch(1), config, rolling(6, {{3, 4, 5, 6, 7, 8, 3}}));
  // Six of the eight, which fill it: three of nine; then one by one.
  EXPECT_EQ(model.steps, (std::vector<size_t>{6, 3, 1, 1, 1}));
}

// Records that roll at different steps, beams and samples among them.
TEST(Window, DoesNotDependOnTheBatch) {
  Rng rng(3);
  const SmallLanguageModel model(9, rng);
  const Prefixes prefixes = {{}, {3, 4, 5}, {5, 4, 3, 6, 7}};
  const std::vector<SearchConfig> configs = {
      {.beam = 3, .n_best = 2, .min_length = 20, .max_length = 24},
      {.n_best = 3, .sample = true, .min_length = 15, .max_length = 30},
      {.beam = 1, .min_length = 25, .max_length = 25}};
  const auto together = search(model, Batch(3), configs, rolling(8, prefixes));
  for (size_t i = 0; i < 3; ++i) {
    SearchRuntime alone = rolling(8, {prefixes[i]});
    alone.lines = {i};
    expect_same(together[i], search(model, Batch(1), configs[i], alone).front());
  }
}

TEST(Window, OutgrowsThePositions) {
  const ToyGenerator model(9, 6);
  SearchRuntime runtime = rolling(4, {{}});
  runtime.positions = 4;
  const SearchConfig config{.beam = 1, .min_length = 20, .max_length = 20};
  EXPECT_EQ(search(model, Batch(1), config, runtime).front().front().tokens.size(), 20u);
  runtime.window = {};
  EXPECT_EQ(search(model, Batch(1), config, runtime).front().front().tokens.size(), 3u);
}

TEST(Window, LeavesPrefixesWithoutScores) {
  const ToyGenerator model(9, 6);
  const SearchConfig config{.beam = 2, .min_length = 6, .max_length = 6};
  const std::vector<int32_t> prefix = {3, 4, 5};
  const auto scored = search(model, Batch(1), config, {.prefixes = {prefix}}).front().front();
  const auto plain =
      search(model, Batch(1), config, {.prefixes = {prefix}, .score_prefixes = false})
          .front()
          .front();
  EXPECT_EQ(plain.tokens, scored.tokens);
  double rest = 0;
  for (size_t t = 0; t < 6; ++t) {
    EXPECT_EQ(plain.log_probabilities[t], t < 3 ? 0.0f : scored.log_probabilities[t]);
    if (t >= 3) rest += double{scored.log_probabilities[t]};
  }
  EXPECT_NEAR(plain.log_probability, rest, 1e-6);
  EXPECT_NEAR(plain.score, rest / 3, 1e-6);
  SearchRuntime both = rolling(8, {prefix});
  both.score_prefixes = true;
  EXPECT_THROW(search(model, Batch(1), config, both), ConfigError);
}

}  // namespace
}  // namespace attend
