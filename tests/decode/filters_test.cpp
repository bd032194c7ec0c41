#include "attend/decode/filters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "attend/base/rng.h"

namespace attend {
namespace {

TokenChoices choices_of(const std::vector<double>& masses) {
  TokenChoices made;
  for (size_t i = 0; i < masses.size(); ++i) {
    made.push_back({static_cast<int32_t>(i), static_cast<float>(std::log(masses[i])), masses[i]});
  }
  return made;
}

template <typename Filter>
std::vector<int32_t> kept(const std::vector<double>& masses, const Filter& filter) {
  TokenChoices choices = choices_of(masses);
  filter(choices);
  std::vector<int32_t> tokens;
  for (const TokenChoice& choice : choices) tokens.push_back(choice.token);
  return tokens;
}

using Ids = std::vector<int32_t>;

TEST(Filters, TopKKeepsTheLikeliest) {
  const std::vector<double> masses = {0.5, 0.3, 0.2};
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_top_k(c, 2); }), (Ids{0, 1}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_top_k(c, 9); }), (Ids{0, 1, 2}));
}

TEST(Filters, TopPKeepsTheFewestWithTheMass) {
  const std::vector<double> masses = {0.5, 0.25, 0.125, 0.125};
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_top_p(c, 0.5); }), (Ids{0}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_top_p(c, 0.51); }), (Ids{0, 1}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_top_p(c, 0.8); }), (Ids{0, 1, 2}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_top_p(c, 1e-9); }), (Ids{0}));
}

TEST(Filters, MinPKeepsAShareOfTheLikeliest) {
  const std::vector<double> masses = {0.5, 0.25, 0.125, 0.125};
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_min_p(c, 0.5); }), (Ids{0, 1}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_min_p(c, 0.51); }), (Ids{0}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_min_p(c, 0.25); }), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_min_p(c, 1.0); }), (Ids{0}));
}

// The entropy is 1.221 nats, and -log p is 0.693, 1.609, 1.609 and 2.303: the two in the middle are
// nearest, then comes the likeliest, then the last.
TEST(Filters, TypicalKeepsWhatIsNearestToTheEntropy) {
  const std::vector<double> masses = {0.5, 0.2, 0.2, 0.1};
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_typical(c, 0.1); }), (Ids{1}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_typical(c, 0.39); }), (Ids{1, 2}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_typical(c, 0.5); }), (Ids{0, 1, 2}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_typical(c, 0.95); }), (Ids{0, 1, 2, 3}));
  // The likeliest alone is not typical of many that are alike.
  std::vector<double> many(1001, 0.0009);
  many[0] = 0.1;
  EXPECT_EQ(kept(many, [](TokenChoices& c) { keep_typical(c, 0.0008); }), (Ids{1}));
}

// Against the definition, with all of a large vocabulary in order.
TEST(Filters, TypicalIsTheDefinitionForManyTokens) {
  const RandomStream random(3, 1);
  std::vector<double> masses(3000);
  for (size_t i = 0; i < masses.size(); ++i) masses[i] = std::exp(2 * random.normal(i));
  const double total = std::accumulate(masses.begin(), masses.end(), 0.0);
  double entropy = 0;
  for (const double m : masses) entropy -= m / total * std::log(m / total);
  std::vector<int32_t> order(masses.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int32_t i) {
    return std::abs(-std::log(masses[static_cast<size_t>(i)] / total) - entropy);
  });
  for (const double share : {0.05, 0.3, 0.9}) {
    Ids expected;
    double mass = 0;
    for (const int32_t token : order) {
      if (mass >= share * total) break;
      expected.push_back(token);
      mass += masses[static_cast<size_t>(token)];
    }
    std::ranges::sort(expected);
    EXPECT_EQ(kept(masses, [&](TokenChoices& c) { keep_typical(c, share); }), expected) << share;
  }
}

TEST(Filters, AreAppliedOneAfterTheOther) {
  // Of {0.4, 0.3, 0.2, 0.1}: top-p 0.85 leaves three, min-p 0.6 two, and typical one of them.
  SearchConfig config;
  config.top_p = 0.85f;
  const std::vector<double> masses = {0.4, 0.3, 0.2, 0.1};
  const auto apply = [&](TokenChoices& c) { filter(c, config, 1.0); };
  EXPECT_EQ(kept(masses, apply), (Ids{0, 1, 2}));
  config.min_p = 0.6f;
  EXPECT_EQ(kept(masses, apply), (Ids{0, 1}));
  config.typical_p = 0.4f;
  EXPECT_EQ(kept(masses, apply), (Ids{0}));
}

TEST(Filters, LeaveTheOrderAndKeepTheFirstOfEquals) {
  const std::vector<double> masses = {0.1, 0.2, 0.3, 0.2, 0.2};
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_top_k(c, 2); }), (Ids{1, 2}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_top_p(c, 0.6); }), (Ids{1, 2, 3}));
  EXPECT_EQ(kept(masses, [](TokenChoices& c) { keep_min_p(c, 0.6); }), (Ids{1, 2, 3, 4}));
}

// Against sums of all masses in order.
TEST(Filters, TopPIsTheDefinitionForManyTokens) {
  const RandomStream random(3, 2);
  std::vector<double> masses(3000);
  for (size_t i = 0; i < masses.size(); ++i) masses[i] = std::exp(2 * random.normal(i));
  const double total = std::accumulate(masses.begin(), masses.end(), 0.0);
  std::vector<double> sorted = masses;
  std::ranges::sort(sorted, std::greater());
  for (const double share : {0.001, 0.5, 0.99, 1.0}) {
    size_t count = 0;
    for (double mass = 0; mass < share * total * (1 - 1e-12) && count < sorted.size();) {
      mass += sorted[count++];
    }
    const Ids found =
        kept(masses, [&](TokenChoices& c) { keep_top_p(c, share * total * (1 - 1e-12)); });
    EXPECT_EQ(found.size(), count) << share;
    EXPECT_TRUE(std::ranges::is_sorted(found));
    for (const int32_t token : found)
      EXPECT_GE(masses[static_cast<size_t>(token)], sorted[count - 1]);
  }
}

}  // namespace
}  // namespace attend
