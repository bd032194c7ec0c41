#include "attend/decode/beam.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace attend {
namespace {

void add_candidates(const Frontier& frontier, const NextTokens& next, size_t i, size_t count,
                    bool observed, std::vector<Candidate>& to) {
  const Live& live = frontier.live()[i];
  const double before = live.total;
  if (!next.any(i) || std::isnan(before)) return;
  const std::optional<int32_t> forced = frontier.forced(live);
  if (forced) {
    const float log_probability = next.log_probability(i, *forced);
    to.push_back({i, *forced, log_probability, before + double{log_probability}});
    if (!observed) return;
  }
  for (size_t j = i * next.k; j < i * next.k + count && next.ids[j] >= 0; ++j) {
    if (next.ids[j] == forced) continue;
    const float counted = next.log_probabilities[j];
    const float own = next.is_penalised(i) ? next.model_log_probability(i, next.ids[j]) : counted;
    to.push_back({i, next.ids[j], own, before + double{counted}, !forced.has_value()});
  }
}

// What a hypothesis would score if all that follows were certain, and it grew as long as helps.
double best_score(const Frontier& frontier, const Live& live) {
  const size_t longest = frontier.limit(live.record), shortest = live.so_far.tokens.size() + 1;
  return std::max(frontier.score(live.record, live.total, longest),
                  frontier.score(live.record, live.total, shortest));
}

}  // namespace

void extend_beam(const Frontier& frontier, const NextTokens& next, LiveRange range,
                 SearchObserver* observer, std::vector<Candidate>& chosen) {
  const Live& first = frontier.live()[range.begin];
  const SearchConfig& config = frontier.request(first.record).config;
  // No more than the record's own, however many a wider beam beside it needs.
  const size_t wanted = observer == nullptr ? 0 : observer->candidates();
  const size_t count = std::min(std::max(beam_candidates(config), wanted), next.k);
  std::vector<Candidate> candidates;
  for (size_t i = range.begin; i < range.end; ++i) {
    add_candidates(frontier, next, i, count, observer != nullptr, candidates);
  }
  std::ranges::stable_sort(candidates, std::greater(),
                           [](const Candidate& c) { return std::pair(c.possible, c.total); });
  std::vector<bool> kept(candidates.size(), false);
  size_t going_on = 0;
  for (size_t rank = 0; rank < candidates.size() && going_on < config.beam; ++rank) {
    if (!candidates[rank].possible) break;
    // An end counts if it is among the best, and leaves its place to the next.
    const bool ends = candidates[rank].token == frontier.special().end;
    if (ends && rank >= config.beam) continue;
    kept[rank] = true;
    chosen.push_back(candidates[rank]);
    going_on += ends ? 0 : 1;
  }
  if (observer != nullptr) observer->on_step(frontier.live(), candidates, kept);
}

bool is_decided(const Frontier& frontier, LiveRange range, std::span<const Hypothesis> finished) {
  const SearchConfig& config = frontier.request(frontier.live()[range.begin].record).config;
  if (finished.size() >= config.beam) return true;
  double hope = -HUGE_VAL;
  for (size_t i = range.begin; i < range.end; ++i) {
    hope = std::max(hope, best_score(frontier, frontier.live()[i]));
  }
  const auto better =
      std::ranges::count_if(finished, [&](const Hypothesis& h) { return h.score >= hope; });
  return static_cast<size_t>(better) >= config.n_best;
}

}  // namespace attend
