#include "attend/decode/lots.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/rng.h"
#include "attend/decode/frontier.h"

namespace attend {
namespace {

double log_sum_exp(std::span<const float> x) {
  const double largest = std::ranges::max(x);
  double sum = 0;
  for (const float value : x) sum += std::exp(double{value} - largest);
  return largest + std::log(sum);
}

// Tokens that may be drawn, likeliest first where it matters who is among the first.
std::vector<size_t> drawable(std::span<const float> logits, const SearchConfig& config) {
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

size_t draw(std::span<const float> logits, const SearchConfig& config, double lot) {
  const std::vector<size_t> tokens = drawable(logits, config);
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
  double place = lot * kept;
  size_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    if (mass[i] == 0) continue;
    last = i;
    if (place < mass[i]) return tokens[i];
    place -= mass[i];
  }
  return tokens[last];
}

std::vector<std::vector<Hypothesis>> draw_lots(const Generator& model, const Tokens& sources,
                                               const SearchConfig& config, const Prefixes& prefixes,
                                               std::span<const size_t> lines) {
  const size_t count = sources.packing.count();
  if (!lines.empty() && lines.size() != count) {
    throw DataError("search: {} line numbers for {} sources", lines.size(), count);
  }
  Frontier frontier(model, sources, config, prefixes);
  frontier.start_with(std::vector<size_t>(count, config.n_best));
  std::vector<std::vector<Hypothesis>> finished(count);
  for (uint64_t step = 0; !frontier.empty(); ++step) {
    const Tensor logits = frontier.logits();
    std::vector<Candidate> chosen;
    for (size_t i = 0; i < frontier.live().size(); ++i) {
      const Live& live = frontier.live()[i];
      const std::span<const float> row = logits.slice_rows(i, 1).span();
      const uint64_t line = lines.empty() ? live.source : lines[live.source];
      const RandomStream random(config.seed, line * config.n_best + live.number);
      const auto forced = frontier.forced(live);
      const size_t token =
          forced ? static_cast<size_t>(*forced) : draw(row, config, double{random.uniform(step)});
      const auto log_probability = static_cast<float>(double{row[token]} - log_sum_exp(row));
      chosen.push_back({i, static_cast<int32_t>(token), log_probability,
                        live.so_far.log_probability + double{log_probability}});
    }
    for (auto& [source, hypothesis] : frontier.advance(chosen)) {
      finished[source].push_back(std::move(hypothesis));
    }
  }
  for (auto& hypotheses : finished) {
    std::ranges::stable_sort(hypotheses, std::greater(), &Hypothesis::score);
  }
  return finished;
}

}  // namespace attend
