#include "attend/decode/filters.h"

#include <algorithm>
#include <cmath>

namespace attend {

void sort_choices(TokenChoices& choices) {
  std::ranges::sort(choices, [](const TokenChoice& a, const TokenChoice& b) {
    return a.log_mass != b.log_mass ? a.log_mass > b.log_mass : a.token < b.token;
  });
}

double mass_of(const TokenChoices& choices) {
  double sum = 0;
  for (const TokenChoice& choice : choices) sum += choice.mass;
  return sum;
}

void keep_top_k(TokenChoices& choices, size_t k) { choices.resize(std::min(choices.size(), k)); }

void keep_top_p(TokenChoices& choices, double mass) {
  size_t count = 0;
  double kept = 0;
  while (count < choices.size() && (count == 0 || kept < mass)) kept += choices[count++].mass;
  choices.resize(count);
}

void keep_min_p(TokenChoices& choices, double share) {
  const double least = share * choices.front().mass;
  const auto first_below = std::ranges::partition_point(
      choices, [least](const TokenChoice& choice) { return choice.mass >= least; });
  choices.erase(std::max(first_below, choices.begin() + 1), choices.end());
}

void keep_typical(TokenChoices& choices, double share) {
  const double total = mass_of(choices), log_total = std::log(total);
  double entropy = log_total;
  for (const TokenChoice& choice : choices) {
    if (choice.mass > 0) entropy -= choice.mass / total * double{choice.log_mass};
  }
  struct Ranked {
    double distance;
    size_t place;
  };
  std::vector<Ranked> ranked(choices.size());
  for (size_t i = 0; i < choices.size(); ++i) {
    ranked[i] = {std::abs(log_total - double{choices[i].log_mass} - entropy), i};
  }
  const auto nearer = [](const Ranked& a, const Ranked& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.place < b.place;
  };
  // Few are wanted of many: no more are put into order than are.
  std::vector<bool> kept(choices.size(), false);
  double mass = 0;
  size_t taken = 0;
  for (size_t ordered = 0, more = 256; ordered < ranked.size(); more *= 4) {
    const size_t next = std::min(ordered + more, ranked.size());
    const auto begin = ranked.begin() + static_cast<ptrdiff_t>(ordered);
    const auto end = ranked.begin() + static_cast<ptrdiff_t>(next);
    std::partial_sort(begin, end, ranked.end(), nearer);
    for (; taken < next && (taken == 0 || mass < share * total); ++taken) {
      kept[ranked[taken].place] = true;
      mass += choices[ranked[taken].place].mass;
    }
    if (taken < next) break;
    ordered = next;
  }
  size_t to = 0;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (kept[i]) choices[to++] = choices[i];
  }
  choices.resize(to);
}

void filter(TokenChoices& choices, const SearchConfig& config, double total) {
  if (config.top_p < 1.0f) keep_top_p(choices, double{config.top_p} * total);
  if (config.min_p > 0.0f) keep_min_p(choices, double{config.min_p});
  if (config.typical_p < 1.0f) keep_typical(choices, double{config.typical_p});
}

}  // namespace attend
