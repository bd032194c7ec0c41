#include "attend/decode/covering.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "attend/decode/alignment.h"

namespace attend {
namespace {

constexpr double kLeastCoverage = 1e-4;  // of a token that nothing looked at

bool is_covering(const SearchConfig& config) { return config.coverage_penalty != 0.0f; }

// Sum over the tokens read of log(min(coverage, 1)); the ends of both sides do not count.
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

std::vector<std::vector<Hypothesis>> search_covering(const Generator& model, const Model& attending,
                                                     const Batch& inputs,
                                                     std::span<const SearchConfig> configs,
                                                     const SearchRuntime& runtime) {
  if (std::ranges::none_of(configs, is_covering)) return search(model, inputs, configs, runtime);
  std::vector<SearchConfig> plain(configs.begin(), configs.end());
  for (SearchConfig& config : plain) {
    config.check();
    if (!is_covering(config)) continue;
    config.n_best = config.beam;
    config.coverage_penalty = 0.0f;
  }
  auto found = search(model, inputs, plain, runtime);
  SequencesOfRecords written(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (!is_covering(config_of(configs, i))) continue;
    for (const Hypothesis& h : found[i]) written[i].push_back(h.tokens);
  }
  const auto weights = alignments(attending, inputs, written, runtime.special);
  for (size_t i = 0; i < found.size(); ++i) {
    const SearchConfig& config = config_of(configs, i);
    if (!is_covering(config)) continue;
    for (size_t h = 0; h < found[i].size(); ++h) {
      found[i][h].score += double{config.coverage_penalty} * log_coverage(weights[i][h]);
    }
    std::ranges::stable_sort(found[i], std::greater(), &Hypothesis::score);
    found[i].resize(std::min(found[i].size(), config.n_best));
  }
  return found;
}

std::vector<std::vector<Hypothesis>> search_covering(const Generator& model, const Model& attending,
                                                     const Batch& inputs,
                                                     const SearchConfig& config,
                                                     const SearchRuntime& runtime) {
  return search_covering(model, attending, inputs, std::span(&config, 1), runtime);
}

}  // namespace attend
