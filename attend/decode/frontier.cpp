#include "attend/decode/frontier.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/base/error.h"
#include "attend/base/special_tokens.h"

namespace attend {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// Where each stands among those of its source.
std::vector<size_t> places_of(std::span<const Live> live) {
  std::vector<size_t> places(live.size());
  for (size_t i = 1; i < live.size(); ++i) {
    if (live[i].source == live[i - 1].source) places[i] = places[i - 1] + 1;
  }
  return places;
}

bool ends_with(const std::vector<int32_t>& tokens, std::span<const int32_t> end) {
  return tokens.size() >= end.size() &&
         std::equal(end.begin(), end.end(), tokens.end() - static_cast<ptrdiff_t>(end.size()));
}

}  // namespace

Frontier::Frontier(const Generator& model, const Tokens& sources, const SearchConfig& config,
                   const Prefixes& prefixes)
    : model_(model),
      config_(config),
      prefixes_(prefixes),
      sources_(sources.packing),
      state_(model.start(sources)),
      rows_(sources.packing.count()) {
  if (!prefixes.empty() && prefixes.size() != sources_.count()) {
    throw DataError("search: {} prefixes for {} sources", prefixes.size(), sources_.count());
  }
  for (size_t s = 0; s < sources_.count(); ++s) {
    live_.push_back({s});
    parents_.push_back(s);
  }
  tokens_.assign(live_.size(), kStart);
}

size_t Frontier::limit(size_t source) const {
  const size_t wanted =
      config_.max_length > 0 ? config_.max_length : 3 * sources_.length(source) + 20;
  if (config_.places == 0) return wanted;
  return std::min(wanted, std::max<size_t>(config_.places, 2) - 1);  // the start has the first
}

std::optional<int32_t> Frontier::forced(const Live& live) const {
  if (prefixes_.empty()) return std::nullopt;
  const std::vector<int32_t>& prefix = prefixes_[live.source];
  const size_t written = live.so_far.tokens.size();
  return written < prefix.size() ? std::optional(prefix[written]) : std::nullopt;
}

void Frontier::start_with(std::span<const size_t> counts) {
  std::vector<Live> live;
  std::vector<size_t> parents;
  for (size_t s = 0; s < counts.size(); ++s) {
    for (size_t i = 0; i < counts[s]; ++i) {
      live.push_back({s, i});
      parents.push_back(s);
    }
  }
  live_ = std::move(live);
  parents_ = std::move(parents);
  tokens_.assign(live_.size(), kStart);
}

Tensor Frontier::logits() {
  bool same = parents_.size() == rows_;
  for (size_t i = 0; same && i < parents_.size(); ++i) same = parents_[i] == i;
  if (!same) state_->reorder(parents_);
  rows_ = parents_.size();
  Tensor logits = model_.step(*state_, tokens_);
  for (size_t i = 0; i < live_.size(); ++i) forbid(live_[i], logits.slice_rows(i, 1).span());
  return logits;
}

void Frontier::forbid(const Live& live, std::span<float> row) const {
  if (forced(live)) return;  // a prefix may say anything
  row[kStart] = kNever;
  if (!config_.allow_unknown) row[kUnknown] = kNever;
  if (live.so_far.tokens.size() < config_.min_length) row[kEnd] = kNever;
  for (const std::vector<int32_t>& banned : config_.banned) {
    const std::span<const int32_t> before(banned.data(), banned.size() - 1);
    if (ends_with(live.so_far.tokens, before)) row[static_cast<size_t>(banned.back())] = kNever;
  }
  // Where nothing is left, it ends, however short.
  if (std::ranges::all_of(row, [](float logit) { return logit == kNever; })) row[kEnd] = 0.0f;
}

std::vector<Frontier::Finished> Frontier::advance(std::span<const Candidate> chosen) {
  std::vector<Finished> finished;
  std::vector<Live> next;
  parents_.clear();
  tokens_.clear();
  for (const Candidate& c : chosen) {
    Live live = live_[c.parent];
    Hypothesis& h = live.so_far;
    h.log_probability = c.total;
    h.log_probabilities.push_back(c.log_probability);
    const bool ended = c.token == kEnd;
    if (!ended) h.tokens.push_back(c.token);
    if (ended || h.tokens.size() >= limit(live.source)) {
      finish(h, ended);
      finished.push_back({live.source, std::move(h)});
      continue;
    }
    parents_.push_back(c.parent);
    tokens_.push_back(c.token);
    next.push_back(std::move(live));
  }
  const std::vector<size_t> places = places_of(live_);
  live_ = std::move(next);
  keep_places(places);
  return finished;
}

// Orders the hypotheses of each source so that as many as can be stay in the row of their parent:
// the state of those need not move.
void Frontier::keep_places(std::span<const size_t> places) {
  for (size_t begin = 0, end = 0; begin < live_.size(); begin = end) {
    while (end < live_.size() && live_[end].source == live_[begin].source) ++end;
    for (size_t i = begin; i < end;) {
      const size_t home = begin + places[parents_[i]];
      if (home == i || home >= end || parents_[home] == parents_[i]) {
        ++i;
        continue;
      }
      std::swap(live_[i], live_[home]);
      std::swap(parents_[i], parents_[home]);
      std::swap(tokens_[i], tokens_[home]);
    }
  }
}

void Frontier::drop(const std::vector<bool>& sources) {
  size_t kept = 0;
  for (size_t i = 0; i < live_.size(); ++i) {
    if (sources[live_[i].source]) continue;
    if (kept != i) live_[kept] = std::move(live_[i]);
    parents_[kept] = parents_[i];
    tokens_[kept++] = tokens_[i];
  }
  live_.resize(kept);
  parents_.resize(kept);
  tokens_.resize(kept);
}

void Frontier::finish(Hypothesis& h, bool ended) const {
  h.ended = ended;
  const auto length = static_cast<double>(h.tokens.size() + (ended ? 1 : 0));
  h.score = h.log_probability / std::pow(length, double{config_.length_penalty});
}

}  // namespace attend
