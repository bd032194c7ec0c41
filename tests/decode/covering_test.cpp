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

TEST(SearchCovering, AddsWhatAttentionHasSeenToTheScore) {
  Rng rng(3);
  const Transformer model(small_transformer(), rng);
  const Tokens sources = some_tokens({4, 2}, kSourceTokens, 1);
  SearchConfig config{.beam = 4, .n_best = 4, .max_length = 6};
  const auto plain = search(model, sources, config);
  config.coverage_penalty = 5.0f;
  const auto covering = search_covering(model, model, sources, config);
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
      const auto ids =
          sources.ids.index_span().subspan(sources.packing.begin(s), sources.packing.length(s));
      TokenLines source, target;
      source.add(ids);
      target.add(h.tokens);
      const Tensor weights = alignments(model, source.tokens(), target.tokens())[0];
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

TEST(SearchCovering, NeedsAttention) {
  Rng rng(1);
  RnnConfig config = RnnConfig::preset("vanilla");
  config.source_vocabulary = kSourceTokens;
  config.target_vocabulary = kTargetTokens;
  config.hidden = 8, config.embedding = 6;
  const RnnSeq2Seq model(config, rng);
  const Tokens sources = some_tokens({4}, kSourceTokens, 1);
  const SearchConfig covering{.coverage_penalty = 1.0f};
  expect_error<ConfigError>([&] { search_covering(model, model, sources, covering); },
                            "no attention");
  expect_error<ConfigError>([&] { search(model, sources, covering); }, "search_covering");
}

}  // namespace
}  // namespace attend
