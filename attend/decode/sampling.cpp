#include "attend/decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/base/rng.h"

namespace attend {
namespace {

// Tokens that may be sampled, the likeliest first where only some may.
std::vector<size_t> choices(std::span<const float> logits, const SearchConfig& config) {
  std::vector<size_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), size_t{0});
  const bool all = config.top_k == 0 && config.top_p == 1.0f;
  if (all) return tokens;
  const size_t most = config.top_k == 0 ? tokens.size() : std::min(config.top_k, tokens.size());
  std::partial_sort(
      tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(most), tokens.end(),
      [&](size_t a, size_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  tokens.resize(most);
  return tokens;
}

}  // namespace

size_t sample_token(std::span<const float> logits, const SearchConfig& config, double uniform) {
  const std::vector<size_t> tokens = choices(logits, config);
  const double largest = std::ranges::max(logits);
  std::vector<double> mass;
  mass.reserve(tokens.size());
  double sum = 0;
  for (const size_t token : tokens) {
    mass.push_back(std::exp((double{logits[token]} - largest) / double{config.temperature}));
    sum += mass.back();
  }
  double kept = 0;
  size_t count = 0;
  while (count < mass.size() && (count == 0 || kept < double{config.top_p} * sum)) {
    kept += mass[count++];
  }
  double left = uniform * kept;
  size_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    if (mass[i] == 0) continue;
    last = i;
    if (left < mass[i]) return tokens[i];
    left -= mass[i];
  }
  return tokens[last];
}

void sample(const Frontier& frontier, const NextTokens& next, LiveRange range,
            std::vector<Candidate>& chosen) {
  for (size_t i = range.begin; i < range.end; ++i) {
    const Live& live = frontier.live()[i];
    const double before = live.so_far.log_probability;
    if (!next.any(i) || std::isnan(before)) continue;
    const SearchRequest& asked = frontier.request(live.record);
    const std::span<const float> row = next.logits.slice_rows(i, 1).span();
    const std::optional<int32_t> forced = frontier.forced(live);
    const bool branches = frontier.at_first_choice(live);
    const size_t first = branches ? 0 : live.sample;
    const size_t end = branches ? asked.config.n_best : live.sample + 1;
    for (size_t number = first; number < end; ++number) {
      const RandomStream random(asked.config.seed, asked.line * asked.config.n_best + number);
      const double uniform{random.uniform(live.so_far.tokens.size())};
      const int32_t token =
          forced ? *forced : static_cast<int32_t>(sample_token(row, asked.config, uniform));
      const float log_probability = next.log_probability(i, token);
      chosen.push_back({.parent = i,
                        .token = token,
                        .log_probability = log_probability,
                        .total = before + double{log_probability},
                        .sample = number});
    }
  }
}

}  // namespace attend
