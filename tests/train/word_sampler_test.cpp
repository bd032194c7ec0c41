// What the words of a text are trained to predict: its statistics, for fixed seeds.
#include "attend/train/word_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/errors.h"

namespace attend {
namespace {

constexpr uint64_t kCounts[] = {9, 9, 9, 1000, 400, 100, 50, 10, 1};
constexpr size_t kFirst = 3;  // id of a word

WordContextSettings sampler_settings() { return {.window = 4, .negatives = 5, .subsample = 0}; }

// Texts of so many words, none of them special.
Tokens word_texts(const std::vector<int32_t>& lengths) {
  std::vector<int32_t> ids;
  for (const int32_t length : lengths) {
    for (int32_t i = 0; i < length; ++i) {
      ids.push_back(static_cast<int32_t>(kFirst + ids.size() * 7 % 6));
    }
  }
  return {ids, Packing(lengths)};
}

// The sum of (seen - expected)^2 / expected is below the 99.9 % quantile of its distribution, with
// five degrees of freedom.
TEST(WordSampler, DrawsNegativesByTheirCountsToThePower) {
  const WordSampler sampler(kCounts, kFirst, sampler_settings());
  const auto drawn = sampler.draw(word_texts({20'000}), RandomStream(1, 2));
  std::map<int32_t, double> seen;
  double total = 0;
  for (size_t p = 0; p < drawn.ids.size(); ++p) {
    EXPECT_EQ(drawn.windows.outputs[6 * p], drawn.ids[p]);
    EXPECT_EQ(drawn.windows.signs[6 * p], -1.0f);
    for (size_t k = 1; k < 6; ++k) {
      const int32_t id = drawn.windows.outputs[6 * p + k];
      EXPECT_EQ(drawn.windows.signs[6 * p + k], id == drawn.ids[p] ? 0.0f : 1.0f);
      ++seen[id];
      ++total;
    }
  }
  EXPECT_EQ(total, 100'000);
  double weights = 0, chi_square = 0;
  for (size_t id = kFirst; id < 9; ++id) weights += std::pow(kCounts[id], 0.75);
  for (size_t id = kFirst; id < 9; ++id) {
    const double expected = total * std::pow(kCounts[id], 0.75) / weights;
    chi_square += std::pow(seen[static_cast<int32_t>(id)] - expected, 2) / expected;
  }
  EXPECT_LT(chi_square, 20.5);
}

TEST(WordSampler, DrawsAliasesOfAnyWeights) {
  const std::vector<double> weights = {0, 1, 0, 3};
  const AliasTable table(weights);
  std::vector<size_t> seen(4);
  for (uint32_t i = 0; i < 4000; ++i) ++seen[table.draw(i * 1'073'741u)];
  EXPECT_EQ(seen[0] + seen[2], 0u);
  EXPECT_NEAR(static_cast<double>(seen[1]), 1000, 20);
  EXPECT_EQ(AliasTable(std::vector<double>{5}).draw(0xFFFFFFFF), 0u);
}

TEST(WordSampler, WindowsReachFromOneWordToTheSettingAndStayInTheirText) {
  const WordSampler sampler(kCounts, kFirst, sampler_settings());
  const Tokens texts = word_texts({1, 30, 2, 500});
  const auto drawn = sampler.draw(texts, RandomStream(1, 2));
  const WordWindows& w = drawn.windows;
  ASSERT_EQ(w.positions(), 533u);
  std::map<size_t, size_t> reaches;
  for (size_t text = 0; text < texts.count(); ++text) {
    for (size_t p = texts.packing.begin(text); p < texts.packing.end(text); ++p) {
      EXPECT_GE(w.begin[p], texts.packing.begin(text));
      EXPECT_LE(w.end[p], texts.packing.end(text));
      const bool inside = p >= texts.packing.begin(text) + 4 && p + 4 < texts.packing.end(text);
      if (!inside) continue;
      EXPECT_EQ(p - w.begin[p], w.end[p] - p - 1);
      ++reaches[p - w.begin[p]];
    }
  }
  ASSERT_EQ(reaches.size(), 4u);
  for (const auto& [reach, count] : reaches) {
    EXPECT_TRUE(reach >= 1 && reach <= 4);
    EXPECT_NEAR(static_cast<double>(count), 514 / 4.0, 40);
  }
  EXPECT_EQ(w.end[0] - w.begin[0], 1u);  // a text of one word has nothing around it
}

TEST(WordSampler, LeavesOutFrequentWordsAndWhatIsNoWord) {
  WordContextSettings settings = sampler_settings();
  settings.subsample = 0.01;
  const WordSampler sampler(kCounts, kFirst, settings);
  const double share = 0.01 * 1561 / 1000;
  EXPECT_NEAR(sampler.keep_chance(3), std::sqrt(share) + share, 1e-6);
  EXPECT_EQ(sampler.keep_chance(8), 1.0);
  EXPECT_EQ(sampler.keep_chance(0), 0.0);
  std::vector<int32_t> ids(10'000, 3);
  ids[5] = ids[7] = 1;
  const auto drawn = sampler.draw(one_sequence(ids), RandomStream(3, 4));
  EXPECT_NEAR(static_cast<double>(drawn.ids.size()), 10'000 * (std::sqrt(share) + share), 150);
  EXPECT_EQ(std::ranges::count(drawn.ids, 3), static_cast<std::ptrdiff_t>(drawn.ids.size()));
}

TEST(WordSampler, OfNoTextDrawsNothing) {
  const WordSampler sampler(kCounts, kFirst, sampler_settings());
  EXPECT_TRUE(sampler.draw(word_texts({}), RandomStream(1, 2)).ids.empty());
  EXPECT_TRUE(
      sampler.draw(one_sequence(std::vector<int32_t>{0, 2}), RandomStream(1, 2)).ids.empty());
  const uint64_t none[] = {5, 0, 0, 0};
  expect_error<DataError>([&] { WordSampler(none, kFirst, sampler_settings()); },
                          "no word of the vocabulary occurs");
}

// The chance of a word is the product of the chances of its turns.
double chance_of(const HuffmanTree& tree, size_t word, const std::vector<double>& scores) {
  double chance = 1;
  for (size_t i = tree.first[word]; i < tree.first[word + 1]; ++i) {
    const double score = scores[static_cast<size_t>(tree.nodes[i])];
    chance *= 1 / (1 + std::exp(double{tree.signs[i]} * score));
  }
  return chance;
}

TEST(HuffmanTree, ChancesOfAllWordsAddUpToOne) {
  std::vector<double> weights, scores;
  for (size_t i = 0; i < 97; ++i) weights.push_back(1000.0 / static_cast<double>(i + 1));
  for (size_t i = 0; i < 96; ++i) scores.push_back(3 * std::sin(static_cast<double>(i)));
  const HuffmanTree tree(weights);
  double total = 0;
  for (size_t word = 0; word < 97; ++word) total += chance_of(tree, word, scores);
  EXPECT_NEAR(total, 1, 1e-12);
}

TEST(HuffmanTree, GivesFrequentWordsShortPaths) {
  const HuffmanTree tree(std::vector<double>{5, 100, 5, 40});
  const auto length = [&](size_t word) { return tree.first[word + 1] - tree.first[word]; };
  EXPECT_EQ(length(1), 1u);
  EXPECT_EQ(length(3), 2u);
  EXPECT_EQ(length(0), 3u);
  EXPECT_EQ(length(2), 3u);
  EXPECT_EQ(HuffmanTree(std::vector<double>{1}).nodes.size(), 0u);
}

}  // namespace
}  // namespace attend
