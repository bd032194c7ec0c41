#include "attend/decode/filters.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

// A choice by what a filter goes by: the lower, the rather it is kept.
struct Ranked {
  float key;
  uint32_t place;
  double mass;

  bool operator<(const Ranked& other) const {
    return key != other.key ? key < other.key : place < other.place;
  }
};

template <typename Key>
std::vector<Ranked> ranked(const TokenChoices& choices, const Key& key) {
  std::vector<Ranked> all(choices.size());
  for (size_t i = 0; i < choices.size(); ++i) {
    all[i] = {key(choices[i]), static_cast<uint32_t>(i), choices[i].mass};
  }
  return all;
}

// Keeps those that are ranked up to `last`.
template <typename Key>
void keep_up_to(TokenChoices& choices, const Ranked& last, const Key& key) {
  size_t to = 0;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (!(last < Ranked{key(choices[i]), static_cast<uint32_t>(i), 0})) choices[to++] = choices[i];
  }
  choices.resize(to);
}

// The last of the fewest that have a mass together: halves that are not needed are never put in
// order.
Ranked last_of_fewest(std::vector<Ranked> all, double mass) {
  constexpr ptrdiff_t kFew = 64;
  auto begin = all.begin(), end = all.end();
  while (end - begin > kFew) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end);
    double first_half = 0;
    for (auto at = begin; at != middle; ++at) first_half += at->mass;
    if (first_half >= mass) {
      end = middle;
    } else {
      mass -= first_half;
      begin = middle;
    }
  }
  std::sort(begin, end);
  for (; end - begin > 1; ++begin) {
    mass -= begin->mass;
    if (mass <= 0) break;
  }
  return *begin;
}

template <typename Key>
void keep_fewest(TokenChoices& choices, double mass, const Key& key) {
  keep_up_to(choices, last_of_fewest(ranked(choices, key), mass), key);
}

constexpr auto kUnlikelihood = [](const TokenChoice& choice) { return -choice.log_mass; };

}  // namespace

double mass_of(const TokenChoices& choices) {
  double sum = 0;
  for (const TokenChoice& choice : choices) sum += choice.mass;
  return sum;
}

void keep_top_k(TokenChoices& choices, size_t k) {
  if (k >= choices.size()) return;
  std::vector<Ranked> all = ranked(choices, kUnlikelihood);
  const auto last = all.begin() + static_cast<ptrdiff_t>(k) - 1;
  std::nth_element(all.begin(), last, all.end());
  keep_up_to(choices, *last, kUnlikelihood);
}

void keep_top_p(TokenChoices& choices, double mass) { keep_fewest(choices, mass, kUnlikelihood); }

void keep_min_p(TokenChoices& choices, double share) {
  const double largest = std::ranges::max_element(choices, {}, &TokenChoice::mass)->mass;
  std::erase_if(choices, [&](const TokenChoice& c) { return c.mass < share * largest; });
}

void keep_typical(TokenChoices& choices, double share) {
  const double total = mass_of(choices), log_total = std::log(total);
  double entropy = log_total;
  for (const TokenChoice& choice : choices) {
    if (choice.mass > 0) entropy -= choice.mass / total * double{choice.log_mass};
  }
  keep_fewest(choices, share * total, [=](const TokenChoice& choice) {
    return static_cast<float>(std::abs(log_total - double{choice.log_mass} - entropy));
  });
}

void filter(TokenChoices& choices, const SearchConfig& config, double total) {
  if (config.top_p < 1.0f) keep_top_p(choices, double{config.top_p} * total);
  if (config.min_p > 0.0f) keep_min_p(choices, double{config.min_p});
  if (config.typical_p < 1.0f) keep_typical(choices, double{config.typical_p});
}

}  // namespace attend
