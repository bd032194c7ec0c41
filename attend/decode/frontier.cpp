#include "attend/decode/frontier.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "attend/base/error.h"
#include "attend/kernels/top_k.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// log(e^a + e^b).
double log_add(double a, double b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  const double most = std::max(a, b);
  return most + std::log(std::exp(a - most) + std::exp(b - most));
}

// The rank of each among those of its record.
std::vector<size_t> ranks_of(std::span<const Live> live) {
  std::vector<size_t> ranks(live.size());
  for (size_t i = 1; i < live.size(); ++i) {
    if (live[i].record == live[i - 1].record) ranks[i] = ranks[i - 1] + 1;
  }
  return ranks;
}

bool ends_with(const std::vector<int32_t>& tokens, std::span<const int32_t> end) {
  return tokens.size() >= end.size() &&
         std::equal(end.begin(), end.end(), tokens.end() - static_cast<ptrdiff_t>(end.size()));
}

bool is_identity(std::span<const size_t> parents, size_t count) {
  if (parents.size() != count) return false;
  for (size_t i = 0; i < count; ++i) {
    if (parents[i] != i) return false;
  }
  return true;
}

}  // namespace

NextTokens::NextTokens(Tensor rows, size_t count, std::span<const double> left_out)
    : logits(std::move(rows)),
      k(std::min(count, logits.width())),
      ids(logits.rows() * k),
      log_probabilities(logits.rows() * k) {
  kernels::top_k({logits.data(), logits.rows(), logits.width(), logits.stride()}, k, ids.data(),
                 log_probabilities.data());
  for (size_t row = 0; row < left_out.size(); ++row) {
    if (left_out[row] == kNever || ids[row * k] < 0) continue;
    const double left = double{log_sum(row)};
    const auto shift = static_cast<float>(left - log_add(left, left_out[row]));
    for (size_t j = row * k; j < (row + 1) * k; ++j) log_probabilities[j] += shift;
  }
}

bool NextTokens::any(size_t row) const {
  return ids[row * k] >= 0 && !std::isnan(log_probabilities[row * k]);
}

bool NextTokens::is_penalised(size_t row) const {
  return !unpenalised.empty() && !unpenalised[row].changed.empty();
}

float NextTokens::log_sum(size_t row) const {
  const float* const values = logits.data() + row * logits.stride();
  return values[ids[row * k]] - log_probabilities[row * k];
}

float NextTokens::log_probability(size_t row, int32_t token) const {
  return logits.data()[row * logits.stride() + static_cast<size_t>(token)] - log_sum(row);
}

float NextTokens::model_log_probability(size_t row, int32_t token) const {
  if (!is_penalised(row)) return log_probability(row, token);
  const auto& [log_sum, changed] = unpenalised[row];
  const auto found = std::ranges::lower_bound(changed, token, {}, &ChangedLogit::token);
  const bool was_changed = found != changed.end() && found->token == token;
  const float logit = logits.data()[row * logits.stride() + static_cast<size_t>(token)];
  return (was_changed ? found->before : logit) - log_sum;
}

Frontier::Frontier(const Generator& model, const SearchRuntime& runtime)
    : model_(model), runtime_(runtime), state_(model.start()) {
  if (runtime.window && (*runtime.window == 0 || runtime.score_prefixes)) {
    throw ConfigError(
        "search: a window of {} tokens; it must have at least 1, and prefixes cannot be scored",
        *runtime.window);
  }
}

void Frontier::admit(const Batch& inputs, std::vector<SearchRequest> requests) {
  if (requests.empty()) return;
  const size_t before = state_->size();
  state_->admit(inputs);
  for (size_t i = 0; i < requests.size(); ++i) {
    const std::vector<size_t> alone = {i};
    const size_t limit = limit_of(requests[i].config, inputs.pick(alone).rows());
    const size_t at_once = read_at_once(requests[i], limit);
    const size_t unscored = runtime_.score_prefixes ? 0 : at_once;
    live_.push_back({.record = admitted_, .slot = requests[i].slot});
    records_.emplace(admitted_++, Record{std::move(requests[i]), limit, at_once, unscored});
    parents_.push_back(before + i);
  }
}

size_t Frontier::limit_of(const SearchConfig& config, size_t read) const {
  const size_t usual = read > 0 ? 3 * read + 20 : kLengthWithoutInput;
  size_t wanted = config.max_length > 0 ? config.max_length : usual;
  if (runtime_.joint_positions) {  // of which the start has one
    wanted =
        std::min(wanted, *runtime_.joint_positions - std::min(*runtime_.joint_positions, read + 1));
    wanted = std::max<size_t>(wanted, 1);
  }
  if (!runtime_.positions || runtime_.window) return wanted;
  return std::min(wanted, std::max<size_t>(*runtime_.positions, 2) - 1);  // the start has the first
}

// A token that finishes the hypothesis is left to advance(), as any other that does; and an
// observer sees every token of a prefix in a step of its own.
size_t Frontier::read_at_once(const SearchRequest& request, size_t limit) const {
  if (runtime_.observer != nullptr) return 0;
  const auto end = std::ranges::find(request.prefix, runtime_.special.end);
  const auto before_end = static_cast<size_t>(end - request.prefix.begin());
  return std::min(before_end, limit - 1);
}

std::vector<LiveRange> Frontier::by_record() const {
  std::vector<LiveRange> ranges;
  for (size_t i = 0; i < live_.size(); ++i) {
    if (i == 0 || live_[i].record != live_[i - 1].record) ranges.push_back({i, i});
    ranges.back().end = i + 1;
  }
  return ranges;
}

std::optional<int32_t> Frontier::forced(const Live& live) const {
  const std::vector<int32_t>& prefix = request(live.record).prefix;
  const size_t written = live.so_far.tokens.size();
  return written < prefix.size() ? std::optional(prefix[written]) : std::nullopt;
}

bool Frontier::at_first_choice(const Live& live) const {
  return live.so_far.tokens.size() == records_.at(live.record).at_once;
}

NextTokens Frontier::step(size_t k) {
  const NoGrad no_grad;
  if (!is_identity(parents_, state_->size())) state_->reorder(parents_);
  parents_.resize(live_.size());
  std::iota(parents_.begin(), parents_.end(), size_t{0});
  if (runtime_.window) roll();
  const Tensor logits = read_tokens();
  std::vector<NextTokens::Unpenalised> before = penalise(logits);
  std::vector<double> left_out(live_.size());
  for (size_t i = 0; i < live_.size(); ++i) {
    left_out[i] = forbid(live_[i], logits.slice_rows(i, 1).span());
  }
  NextTokens next(logits, k, left_out);
  next.unpenalised = std::move(before);
  return next;
}

// Hypotheses that fill the window forget what they have read.
void Frontier::roll() {
  const auto is_full = [this](const Live& live) { return live.read >= *runtime_.window; };
  if (std::ranges::none_of(live_, is_full)) return;
  std::vector<int32_t> lengths;
  for (Live& live : live_) {
    if (is_full(live)) {
      live.read = 0;
      ++live.rolled;
    }
    lengths.push_back(static_cast<int32_t>(live.read));
  }
  state_->rewind(lengths);
}

Tensor Frontier::read_tokens() {
  const Tokens read = next_to_read();
  Tensor logits;
  if (scores_a_prefix()) {
    const Tensor all = model_.step(*state_, read, StepRows::kAll);
    take_prefixes(all, read.packing);
    logits = wanted_rows(all, read.packing, StepRows::kLast);
  } else {
    logits = model_.step(*state_, read, StepRows::kLast);
    take_prefixes({}, read.packing);
  }
  for (size_t i = 0; i < live_.size(); ++i) live_[i].read += read.packing.length(i);
  return logits;
}

Tokens Frontier::next_to_read() const {
  TokenLines lines;
  for (const Live& live : live_) {
    if (live.read == 0) {
      lines.add(first_tokens(live));
    } else {
      lines.add({&live.so_far.tokens.back(), 1});
    }
  }
  return lines.tokens();
}

// What a hypothesis reads whose state is empty: all that fits into the window when it has just
// joined, and half of that when it goes on.
std::vector<int32_t> Frontier::first_tokens(const Live& live) const {
  const Record& record = records_.at(live.record);
  const std::vector<int32_t>& written = live.so_far.tokens;
  const bool joins = written.empty();
  const auto text = joins ? std::span(record.request.prefix).first(record.at_once)
                          : std::span<const int32_t>(written);
  std::vector<int32_t> tokens = framed(text, {.start = true}, runtime_.special);
  if (!runtime_.window) return tokens;
  const size_t most = joins ? *runtime_.window : std::max<size_t>(*runtime_.window / 2, 1);
  if (tokens.size() > most)
    tokens.erase(tokens.begin(), tokens.end() - static_cast<ptrdiff_t>(most));
  return tokens;
}

bool Frontier::scores_a_prefix() const {
  return runtime_.score_prefixes && std::ranges::any_of(live_, [this](const Live& live) {
           return live.read == 0 && records_.at(live.record).at_once > 0;
         });
}

// Adds the prefixes that were read at once to their hypotheses. Where they are scored, `logits` are
// those of all rows.
void Frontier::take_prefixes(const Tensor& logits, const Packing& read) {
  for (size_t i = 0; i < live_.size(); ++i) {
    Hypothesis& h = live_[i].so_far;
    if (live_[i].read > 0 || !h.tokens.empty()) continue;
    const Record& record = records_.at(live_[i].record);
    const auto prefix = std::span(record.request.prefix).first(record.at_once);
    if (prefix.empty()) continue;
    h.tokens.assign(prefix.begin(), prefix.end());
    h.log_probabilities.assign(prefix.size(), 0.0f);
    if (!runtime_.score_prefixes) continue;
    const NextTokens after(logits.slice_rows(read.begin(i), prefix.size()), 1);
    for (size_t t = 0; t < prefix.size(); ++t) {
      h.log_probabilities[t] = after.any(t) ? after.log_probability(t, prefix[t]) : std::nanf("");
      h.log_probability += double{h.log_probabilities[t]};
    }
    live_[i].total = h.log_probability;
  }
}

// Gives the log-sum of the powers of the logits that it sets to -inf.
double Frontier::forbid(const Live& live, std::span<float> row) const {
  if (forced(live)) return kNever;  // a prefix may say anything
  const SpecialTokens& special = runtime_.special;
  const SearchRequest& asked = request(live.record);
  std::vector<ChangedLogit> forbidden;
  const auto never = [&](int32_t token) {
    float& logit = row[static_cast<size_t>(token)];
    if (logit != kNever) forbidden.push_back({token, std::exchange(logit, kNever)});
  };
  if (special.start != special.end) never(special.start);
  if (special.mask >= 0) never(special.mask);
  if (!asked.config.allow_unknown && special.unknown >= 0) never(special.unknown);
  if (live.so_far.tokens.size() < asked.config.min_length) never(special.end);
  for (const TokenSequences* banned : {&runtime_.banned, &asked.banned}) {
    for (const std::vector<int32_t>& tokens : *banned) {
      const std::span<const int32_t> before(tokens.data(), tokens.size() - 1);
      if (ends_with(live.so_far.tokens, before)) never(tokens.back());
    }
  }
  // Where nothing is left, it ends, however short.
  if (std::ranges::all_of(row, [](float logit) { return logit == kNever; })) {
    const auto end = std::ranges::find(forbidden, special.end, &ChangedLogit::token);
    row[static_cast<size_t>(special.end)] = end == forbidden.end()
                                                ? std::numeric_limits<float>::lowest()
                                                : std::exchange(end->before, kNever);
  }
  double left_out = kNever;
  for (const ChangedLogit& each : forbidden) left_out = log_add(left_out, double{each.before});
  return left_out;
}

// Gives what the model itself expects after each row, or nothing where no row has penalties.
std::vector<NextTokens::Unpenalised> Frontier::penalise(const Tensor& logits) {
  const auto penalties = [this](const Live& live) {
    return has_penalties(request(live.record).config);
  };
  if (std::ranges::none_of(live_, penalties)) return {};
  if (!penaliser_) penaliser_.emplace(model_.vocabulary());
  std::vector<NextTokens::Unpenalised> before(live_.size());
  {
    const NextTokens plain(logits, 1);
    for (size_t i = 0; i < live_.size(); ++i)
      before[i].log_sum = plain.any(i) ? plain.log_sum(i) : 0;
  }
  for (size_t i = 0; i < live_.size(); ++i) {
    if (!penalties(live_[i]) || forced(live_[i])) continue;
    const SearchRequest& asked = request(live_[i].record);
    const std::span<const int32_t> all = live_[i].so_far.tokens;
    const size_t given = std::min(asked.prefix.size(), all.size());
    before[i].changed = (*penaliser_)(asked.config, all.first(given), all.subspan(given),
                                      logits.slice_rows(i, 1).span());
    std::ranges::sort(before[i].changed, {}, &ChangedLogit::token);
  }
  return before;
}

std::vector<Frontier::Finished> Frontier::advance(std::span<const Candidate> chosen) {
  std::vector<Finished> finished;
  std::vector<Live> next;
  parents_.clear();
  for (const Candidate& c : chosen) {
    Live live = live_[c.parent];
    Hypothesis& h = live.so_far;
    live.sample = c.sample;
    live.slot = c.slot;
    live.total = c.total;
    h.log_probability += double{c.log_probability};
    h.log_probabilities.push_back(c.log_probability);
    h.ended = c.token == runtime_.special.end;
    if (!h.ended) h.tokens.push_back(c.token);
    if (h.ended || c.last || h.tokens.size() >= limit(live.record)) {
      h.score = score(live.record, live.total, h.tokens.size() + (h.ended ? 1 : 0));
      finished.push_back({live.record, std::move(h), c, live.rolled});
      continue;
    }
    parents_.push_back(c.parent);
    next.push_back(std::move(live));
  }
  const std::vector<size_t> ranks = ranks_of(live_);
  live_ = std::move(next);
  keep_rows(ranks);
  std::erase_if(records_, [this](const auto& record) {
    return !std::ranges::binary_search(live_, record.first, {}, &Live::record);
  });
  return finished;
}

// Orders the hypotheses of each record so that as many as can be stay in the row of their parent:
// the state of those need not move.
void Frontier::keep_rows(std::span<const size_t> ranks) {
  for (const auto [begin, end] : by_record()) {
    for (size_t i = begin; i < end;) {
      const size_t home = begin + ranks[parents_[i]];
      if (home == i || home >= end || parents_[home] == parents_[i]) {
        ++i;
        continue;
      }
      std::swap(live_[i], live_[home]);
      std::swap(parents_[i], parents_[home]);
    }
  }
}

void Frontier::retire(size_t record) {
  const auto [first, last] = std::ranges::equal_range(live_, record, {}, &Live::record);
  const auto parents = parents_.begin() + (first - live_.begin());
  parents_.erase(parents, parents + (last - first));
  live_.erase(first, last);
  records_.erase(record);
}

double Frontier::score(size_t record, double total, size_t length) const {
  const auto counted = static_cast<double>(length - records_.at(record).unscored);
  return total / std::pow(counted, double{request(record).config.length_penalty});
}

}  // namespace attend
