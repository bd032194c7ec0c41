#include "attend/decode/covering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/decode/alignment.h"
#include "attend/models/rnn.h"
#include "attend/models/transformer.h"
#include "tests/errors.h"
#include "tests/models/seq2seq.h"

namespace attend {
namespace {

constexpr SpecialTokens kSpecial;

TEST(SearchCovering, AddsWhatAttentionHasSeenToTheScore) {
  Rng rng(3);
  const Transformer model(small_transformer(), rng);
  const Batch inputs("source", some_tokens({4, 2}, kSourceTokens, 1));
  SearchConfig config{.beam = 4, .n_best = 4, .max_length = 6};
  const auto plain = search(model, inputs, config);
  config.coverage_penalty = 5.0f;
  const auto covering = search_covering(model, model, inputs, config);
  ASSERT_EQ(covering.size(), 2u);
  for (size_t s = 0; s < 2; ++s) {
    ASSERT_EQ(covering[s].size(), plain[s].size());
    for (size_t i = 0; i < plain[s].size(); ++i) {
      const Hypothesis& h = covering[s][i];
      if (i > 0) {
        EXPECT_LE(h.score, covering[s][i - 1].score);
      }
      const auto same = std::ranges::find(plain[s], h.tokens, &Hypothesis::tokens);
      ASSERT_NE(same, plain[s].end());
      const std::vector<size_t> alone = {s};
      const Tensor weights =
          alignments(model, inputs.pick(alone), one_sequence(h.tokens), kSpecial)[0];
      double expected = same->score;
      for (size_t k = 0; k < weights.width(); ++k) {
        double seen = 0;
        for (size_t t = 0; t < h.tokens.size(); ++t) {
          seen += double{weights.data()[t * weights.width() + k]};
        }
        expected += 5 * std::log(std::clamp(seen, 1e-4, 1.0));
      }
      EXPECT_NEAR(h.score, expected, 1e-5);
    }
  }
}

TEST(SearchCovering, RecordsHaveTheirOwnPenalty) {
  Rng rng(3);
  const Transformer model(small_transformer(), rng);
  const Batch inputs("source", some_tokens({4, 2, 5}, kSourceTokens, 1));
  std::vector<SearchConfig> configs(3, {.beam = 4, .n_best = 2, .max_length = 6});
  configs[1].coverage_penalty = 2.0f;
  configs[2] = {.n_best = 3, .sample = true, .max_length = 6};
  const auto together = search_covering(model, model, inputs, configs, {});
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<size_t> alone = {i};
    const auto single =
        search_covering(model, model, inputs.pick(alone), configs[i], {.lines = {i}})[0];
    ASSERT_EQ(together[i].size(), single.size());
    for (size_t h = 0; h < single.size(); ++h) {
      EXPECT_EQ(together[i][h].tokens, single[h].tokens);
      EXPECT_NEAR(together[i][h].score, single[h].score, 1e-5);
    }
  }
}

TEST(SearchCovering, NeedsAttention) {
  Rng rng(1);
  RnnConfig config = RnnConfig::vanilla_preset();
  config.source_vocabulary = kSourceTokens;
  config.target_vocabulary = kTargetTokens;
  config.hidden = 8, config.embedding = 6;
  const RnnSeq2Seq model(config, rng);
  const Batch inputs("source", some_tokens({4}, kSourceTokens, 1));
  const SearchConfig covering{.coverage_penalty = 1.0f};
  expect_error<ConfigError>([&] { search_covering(model, model, inputs, covering); },
                            "no attention");
  expect_error<ConfigError>([&] { search(model, inputs, covering); }, "search_covering");
}

}  // namespace
}  // namespace attend
