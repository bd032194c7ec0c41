#include "attend/decode/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/special_tokens.h"
#include "attend/decode/frontier.h"
#include "attend/decode/lots.h"
#include "attend/kernels/top_k.h"

namespace attend {
namespace {

// The likeliest tokens after each live hypothesis, row by row.
struct Likeliest {
  size_t k;
  std::vector<int32_t> ids;
  std::vector<float> log_probabilities;

  Likeliest(const Tensor& logits, size_t count)
      : k(std::min(count, logits.width())),
        ids(logits.rows() * k),
        log_probabilities(logits.rows() * k) {
    kernels::top_k({logits.data(), logits.rows(), logits.width(), logits.stride()}, k, ids.data(),
                   log_probabilities.data());
  }
};

// The best of all sources, found together.
class Beam {
 public:
  Beam(const Generator& model, const Tokens& sources, const SearchConfig& config,
       const Prefixes& prefixes)
      : config_(config),
        frontier_(model, sources, config, prefixes),
        finished_(sources.packing.count()) {}

  std::vector<std::vector<Hypothesis>> run() {
    while (!frontier_.empty()) step();
    for (auto& hypotheses : finished_) {
      if (hypotheses.empty()) {
        throw DataError("search: the model gives no numbers; its weights are not finite");
      }
      std::ranges::stable_sort(hypotheses, std::greater(), &Hypothesis::score);
      hypotheses.resize(std::min(hypotheses.size(), config_.n_best));
    }
    return std::move(finished_);
  }

 private:
  void step() {
    const Tensor logits = frontier_.logits();
    const size_t wanted = config_.observer == nullptr ? 0 : config_.observer->candidates();
    const Likeliest likeliest(logits, std::max(2 * config_.beam, wanted));
    const std::span<const Live> live = frontier_.live();
    std::vector<Candidate> chosen;
    for (size_t begin = 0, end = 0; begin < live.size(); begin = end) {
      while (end < live.size() && live[end].source == live[begin].source) ++end;
      choose(logits, likeliest, begin, end, chosen);
    }
    for (auto& [source, hypothesis] : frontier_.advance(chosen)) {
      finished_[source].push_back(std::move(hypothesis));
    }
    drop_decided();
  }

  // The candidates of one source, which are those of the live hypotheses [begin, end). An end
  // counts if it is among the best, and leaves its place to the next.
  void choose(const Tensor& logits, const Likeliest& likeliest, size_t begin, size_t end,
              std::vector<Candidate>& chosen) const {
    std::vector<Candidate> candidates;
    for (size_t i = begin; i < end; ++i) add_candidates(logits, likeliest, i, candidates);
    std::ranges::stable_sort(candidates, std::greater(),
                             [](const Candidate& c) { return std::pair(c.possible, c.total); });
    std::vector<bool> kept(candidates.size(), false);
    size_t going_on = 0;
    for (size_t rank = 0; rank < candidates.size() && going_on < config_.beam; ++rank) {
      if (!candidates[rank].possible) break;
      const bool ends = candidates[rank].token == kEnd;
      if (ends && rank >= config_.beam) continue;
      kept[rank] = true;
      chosen.push_back(candidates[rank]);
      going_on += ends ? 0 : 1;
    }
    if (config_.observer != nullptr) config_.observer->on_step(frontier_.live(), candidates, kept);
  }

  void add_candidates(const Tensor& logits, const Likeliest& likeliest, size_t i,
                      std::vector<Candidate>& to) const {
    const Live& live = frontier_.live()[i];
    const int32_t* ids = likeliest.ids.data() + i * likeliest.k;
    const float* values = likeliest.log_probabilities.data() + i * likeliest.k;
    if (ids[0] < 0) return;  // none has a probability
    const double before = live.so_far.log_probability;
    const std::optional<int32_t> forced = frontier_.forced(live);
    if (forced) {
      const std::span<const float> row = logits.slice_rows(i, 1).span();
      const float lse = row[static_cast<size_t>(ids[0])] - values[0];
      const float log_probability = row[static_cast<size_t>(*forced)] - lse;
      to.push_back({i, *forced, log_probability, before + double{log_probability}});
      if (config_.observer == nullptr) return;
    }
    for (size_t j = 0; j < likeliest.k && ids[j] >= 0; ++j) {
      if (ids[j] == forced) continue;
      to.push_back({i, ids[j], values[j], before + double{values[j]}, !forced});
    }
  }

  // Lets go of sources that have their hypotheses: as many as the beam, or n_best that nothing
  // still being written can beat.
  void drop_decided() {
    std::vector<bool> decided(finished_.size());
    for (size_t s = 0; s < decided.size(); ++s) decided[s] = finished_[s].size() >= config_.beam;
    std::vector<double> hope(finished_.size(), -HUGE_VAL);
    for (const Live& live : frontier_.live()) {
      hope[live.source] = std::max(hope[live.source], best_score(live));
    }
    for (size_t s = 0; s < decided.size(); ++s) {
      const auto better = std::ranges::count_if(
          finished_[s], [&](const Hypothesis& h) { return h.score >= hope[s]; });
      if (static_cast<size_t>(better) >= config_.n_best) decided[s] = true;
    }
    frontier_.drop(decided);
  }

  // What a hypothesis would score if all that follows were certain, and it grew as long as helps.
  double best_score(const Live& live) const {
    const double total = live.so_far.log_probability, penalty = double{config_.length_penalty};
    const auto longest = static_cast<double>(frontier_.limit(live.source));
    const auto shortest = static_cast<double>(live.so_far.tokens.size() + 1);
    return std::max(total / std::pow(longest, penalty), total / std::pow(shortest, penalty));
  }

  const SearchConfig& config_;
  Frontier frontier_;
  std::vector<std::vector<Hypothesis>> finished_;
};

}  // namespace

void SearchConfig::check(size_t vocabulary) const {
  check_ranges(*this, "search");
  if (!sample && n_best > beam) {
    throw ConfigError("search: {} best of a beam of {}; widen the beam or ask for fewer", n_best,
                      beam);
  }
  if (!(temperature > 0.0f && std::isfinite(temperature)) || !(top_p > 0.0f && top_p <= 1.0f)) {
    throw ConfigError(
        "search: temperature {} and top_p {}; the first is finite and above 0, the second in "
        "(0, 1]",
        temperature, top_p);
  }
  if (!std::isfinite(length_penalty)) {
    throw ConfigError("search: a length_penalty of {}; it is finite", length_penalty);
  }
  if (!(coverage_penalty >= 0.0f && std::isfinite(coverage_penalty)) ||
      (coverage_penalty > 0.0f && sample)) {
    throw ConfigError(
        "search: a coverage_penalty of {} with sample {}; it is finite and at least 0, for a beam",
        coverage_penalty, sample);
  }
  if (max_length > 0 && min_length > max_length) {
    throw ConfigError("search: min_length {} is more than max_length {}", min_length, max_length);
  }
  for (const std::vector<int32_t>& tokens : banned) {
    if (tokens.empty()) throw ConfigError("search: an empty sequence cannot be banned");
    for (const int32_t token : tokens) {
      if (token < 0 || static_cast<size_t>(token) >= vocabulary) {
        throw ConfigError("search: banned token {} of a vocabulary of {}", token, vocabulary);
      }
    }
  }
}

std::vector<std::vector<Hypothesis>> search(const Generator& model, const Tokens& sources,
                                            const SearchConfig& config, const Prefixes& prefixes,
                                            std::span<const size_t> lines) {
  config.check(model.vocabulary());
  if (config.coverage_penalty != 0.0f) {
    throw ConfigError("search: a coverage_penalty needs a model that looks; use search_covering");
  }
  if (config.sample) return draw_lots(model, sources, config, prefixes, lines);
  return Beam(model, sources, config, prefixes).run();
}

}  // namespace attend
