#include "attend/decode/frontier.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attend/base/error.h"
#include "attend/kernels/top_k.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr size_t kLengthWithoutInput = 256;

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

NextTokens::NextTokens(Tensor rows, size_t count)
    : logits(std::move(rows)),
      k(std::min(count, logits.width())),
      ids(logits.rows() * k),
      log_probabilities(logits.rows() * k) {
  kernels::top_k({logits.data(), logits.rows(), logits.width(), logits.stride()}, k, ids.data(),
                 log_probabilities.data());
}

bool NextTokens::any(size_t row) const {
  return ids[row * k] >= 0 && !std::isnan(log_probabilities[row * k]);
}

float NextTokens::log_probability(size_t row, int32_t token) const {
  const float* const values = logits.data() + row * logits.stride();
  const float lse = values[ids[row * k]] - log_probabilities[row * k];
  return values[token] - lse;
}

Frontier::Frontier(const Generator& model, const SearchRuntime& runtime)
    : model_(model), runtime_(runtime), state_(model.start()) {}

void Frontier::admit(const Batch& inputs, std::vector<SearchRequest> requests) {
  if (requests.empty()) return;
  const size_t before = state_->size();
  state_->admit(inputs);
  for (size_t i = 0; i < requests.size(); ++i) {
    const std::vector<size_t> alone = {i};
    const size_t limit = limit_of(requests[i].config, inputs.pick(alone).rows());
    const size_t at_once = read_at_once(requests[i], limit);
    records_.emplace(admitted_, Record{std::move(requests[i]), limit, at_once});
    live_.push_back({.record = admitted_++});
    parents_.push_back(before + i);
  }
}

size_t Frontier::limit_of(const SearchConfig& config, size_t read) const {
  const size_t usual = read > 0 ? 3 * read + 20 : kLengthWithoutInput;
  const size_t wanted = config.max_length > 0 ? config.max_length : usual;
  if (!runtime_.positions) return wanted;
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
  const Tokens read = next_to_read();
  Tensor logits;
  if (read.packing.rows() == live_.size()) {
    logits = model_.step(*state_, read);
  } else {
    const Tensor all = model_.step(*state_, read, StepRows::kAll);
    take_prefixes(all, read);
    logits = wanted_rows(all, read.packing, StepRows::kLast);
  }
  for (size_t i = 0; i < live_.size(); ++i) forbid(live_[i], logits.slice_rows(i, 1).span());
  return {logits, k};
}

Tokens Frontier::next_to_read() const {
  TokenLines lines;
  for (const Live& live : live_) {
    const std::vector<int32_t>& written = live.so_far.tokens;
    if (written.empty()) {
      const Record& record = records_.at(live.record);
      const auto prefix = std::span(record.request.prefix).first(record.at_once);
      lines.add(framed(prefix, {.start = true}, runtime_.special));
    } else {
      lines.add({&written.back(), 1});
    }
  }
  return lines.tokens();
}

// Adds the prefixes that were read at once to their hypotheses.
void Frontier::take_prefixes(const Tensor& logits, const Tokens& read) {
  for (size_t i = 0; i < live_.size(); ++i) {
    const std::span<const int32_t> prefix = read.sequence(i).subspan(1);
    if (prefix.empty()) continue;
    const NextTokens after(logits.slice_rows(read.packing.begin(i), prefix.size()), 1);
    Hypothesis& h = live_[i].so_far;
    for (size_t t = 0; t < prefix.size(); ++t) {
      const float log_probability =
          after.any(t) ? after.log_probability(t, prefix[t]) : std::nanf("");
      h.tokens.push_back(prefix[t]);
      h.log_probabilities.push_back(log_probability);
      h.log_probability += double{log_probability};
    }
  }
}

void Frontier::forbid(const Live& live, std::span<float> row) const {
  if (forced(live)) return;  // a prefix may say anything
  const SpecialTokens& special = runtime_.special;
  const SearchRequest& asked = request(live.record);
  const auto never = [row](int32_t token) { row[static_cast<size_t>(token)] = kNever; };
  never(special.start);
  if (!asked.config.allow_unknown) never(special.unknown);
  if (live.so_far.tokens.size() < asked.config.min_length) never(special.end);
  for (const TokenSequences* banned : {&runtime_.banned, &asked.banned}) {
    for (const std::vector<int32_t>& tokens : *banned) {
      const std::span<const int32_t> before(tokens.data(), tokens.size() - 1);
      if (ends_with(live.so_far.tokens, before)) never(tokens.back());
    }
  }
  // Where nothing is left, it ends, however short.
  if (std::ranges::all_of(row, [](float logit) { return logit == kNever; })) {
    row[static_cast<size_t>(special.end)] = 0.0f;
  }
}

std::vector<Frontier::Finished> Frontier::advance(std::span<const Candidate> chosen) {
  std::vector<Finished> finished;
  std::vector<Live> next;
  parents_.clear();
  for (const Candidate& c : chosen) {
    Live live = live_[c.parent];
    Hypothesis& h = live.so_far;
    live.sample = c.sample;
    h.log_probability = c.total;
    h.log_probabilities.push_back(c.log_probability);
    const bool ended = c.token == runtime_.special.end;
    if (!ended) h.tokens.push_back(c.token);
    if (ended || h.tokens.size() >= limit(live.record)) {
      finish(live, h, ended);
      finished.push_back({live.record, std::move(h)});
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

void Frontier::finish(const Live& live, Hypothesis& h, bool ended) const {
  h.ended = ended;
  const auto length = static_cast<double>(h.tokens.size() + (ended ? 1 : 0));
  h.score =
      h.log_probability / std::pow(length, double{request(live.record).config.length_penalty});
}

}  // namespace attend
