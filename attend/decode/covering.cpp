#include "attend/decode/covering.h"

#include <algorithm>
#include <cmath>

#include "attend/decode/alignment.h"

namespace attend {
namespace {

constexpr double kLeastCoverage = 1e-4;  // of a token that nothing looked at

// Sum over source tokens of log(min(coverage, 1)); the ends of both sides do not count.
double log_coverage(const Tensor& weights) {
  double sum = 0;
  for (size_t s = 0; s < weights.width(); ++s) {
    double coverage = 0;
    for (size_t t = 0; t + 1 < weights.rows(); ++t) {
      coverage += double{weights.data()[t * weights.width() + s]};
    }
    sum += std::log(std::clamp(coverage, kLeastCoverage, 1.0));
  }
  return sum;
}

}  // namespace

std::vector<std::vector<Hypothesis>> search_covering(const Generator& model, const Seq2Seq& looks,
                                                     const Tokens& sources,
                                                     const SearchConfig& config,
                                                     const Prefixes& prefixes,
                                                     std::span<const size_t> lines) {
  if (!(config.coverage_penalty > 0.0f)) return search(model, sources, config, prefixes, lines);
  SearchConfig all = config;
  all.n_best = config.beam;
  all.coverage_penalty = 0.0f;
  auto found = search(model, sources, all, prefixes);
  TokenLines repeated, written;
  for (size_t s = 0; s < found.size(); ++s) {
    const auto ids =
        sources.ids.index_span().subspan(sources.packing.begin(s), sources.packing.length(s));
    for (const Hypothesis& h : found[s]) {
      repeated.add(ids);
      written.add(h.tokens);
    }
  }
  const std::vector<Tensor> weights = alignments(looks, repeated.tokens(), written.tokens());
  size_t next = 0;
  for (std::vector<Hypothesis>& hypotheses : found) {
    for (Hypothesis& h : hypotheses) {
      h.score += double{config.coverage_penalty} * log_coverage(weights[next++]);
    }
    std::ranges::stable_sort(hypotheses, std::greater(), &Hypothesis::score);
    hypotheses.resize(std::min(hypotheses.size(), config.n_best));
  }
  return found;
}

}  // namespace attend
