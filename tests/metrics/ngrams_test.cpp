#include "attend/metrics/ngrams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace attend {
namespace {

using Symbols = std::vector<uint32_t>;

std::map<Symbols, uint64_t> plain_counts(const Symbols& symbols, size_t n) {
  std::map<Symbols, uint64_t> counts;
  for (size_t i = 0; i + n <= symbols.size(); ++i) {
    ++counts[Symbols(symbols.begin() + i, symbols.begin() + i + n)];
  }
  return counts;
}

uint64_t plain_matches(const Symbols& hypothesis, const std::vector<Symbols>& references,
                       size_t n) {
  uint64_t matches = 0;
  for (const auto& [ngram, count] : plain_counts(hypothesis, n)) {
    uint64_t most = 0;
    for (const Symbols& reference : references) {
      most = std::max(most, plain_counts(reference, n)[ngram]);
    }
    matches += std::min(count, most);
  }
  return matches;
}

TEST(NgramMatcher, CountsWhatPlainMapsCount) {
  uint32_t state = 1;
  const auto random = [&](uint32_t below) {
    return (state = state * 1664525 + 1013904223) / 65536 % below;
  };
  const auto sequence = [&](size_t longest, uint32_t alphabet) {
    Symbols symbols(random(longest));
    std::ranges::generate(symbols, [&] { return random(alphabet) * 0x01000193; });
    return symbols;
  };
  for (int round = 0; round < 200; ++round) {
    const uint32_t alphabet = 1 + random(6);
    const size_t longest = round % 10 == 0 ? 300 : 20, order = 1 + random(6);
    const Symbols hypothesis = sequence(longest, alphabet);
    const std::vector<Symbols> references = {sequence(longest, alphabet),
                                             sequence(longest, alphabet)};
    NgramMatcher matcher(order);
    for (const Symbols& reference : references) matcher.add_reference(reference);
    const std::vector<uint64_t> matches = matcher.match(hypothesis);
    ASSERT_EQ(matches.size(), order);
    for (size_t n = 1; n <= order; ++n) {
      EXPECT_EQ(matches[n - 1], plain_matches(hypothesis, references, n)) << round << " " << n;
    }
  }
}

TEST(NgramMatcher, OrdersLongerThanTheLineHaveNone) {
  EXPECT_EQ(ngram_count(3, 4), 0u);
  EXPECT_EQ(ngram_count(3, 5), 0u);
  EXPECT_EQ(ngram_count(4, 4), 1u);
  EXPECT_EQ(ngram_count(0, 1), 0u);
}

}  // namespace
}  // namespace attend
