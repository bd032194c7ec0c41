#include "attend/decode/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "attend/base/error.h"
#include "attend/decode/beam.h"
#include "attend/decode/frontier.h"
#include "attend/decode/sampling.h"
#include "attend/models/text_model.h"

namespace attend {
namespace {

void check_ids(std::span<const int32_t> tokens, const char* what, size_t vocabulary) {
  for (const int32_t token : tokens) {
    if (token >= 0 && static_cast<size_t>(token) < vocabulary) continue;
    throw ConfigError("search: {} token {} of a vocabulary of {}", what, token, vocabulary);
  }
}

void check_banned(const TokenSequences& banned, size_t vocabulary) {
  for (const std::vector<int32_t>& tokens : banned) {
    if (tokens.empty()) throw ConfigError("search: an empty sequence cannot be banned");
    check_ids(tokens, "banned", vocabulary);
  }
}

// Throws where the settings or what is given by record do not fit the records.
void check(const Generator& model, size_t records, std::span<const SearchConfig> configs,
           const SearchRuntime& runtime) {
  const auto one_each = [records](size_t count, const char* what) {
    if (count != records) throw DataError("search: {} {} for {} records", count, what, records);
  };
  if (configs.size() != 1) one_each(configs.size(), "configs");
  if (!runtime.prefixes.empty()) one_each(runtime.prefixes.size(), "prefixes");
  if (!runtime.lines.empty()) one_each(runtime.lines.size(), "line numbers");
  if (!runtime.banned_by_record.empty()) {
    one_each(runtime.banned_by_record.size(), "lists of banned sequences");
  }
  for (const SearchConfig& config : configs) {
    config.check();
    if (config.coverage_penalty != 0.0f) {
      throw ConfigError(
          "search: a coverage_penalty needs a model's attention; use search_covering");
    }
  }
  check_banned(runtime.banned, model.vocabulary());
  for (const TokenSequences& banned : runtime.banned_by_record) {
    check_banned(banned, model.vocabulary());
  }
  for (const std::vector<int32_t>& prefix : runtime.prefixes) {
    check_ids(prefix, "prefix", model.vocabulary());
  }
}

// All records, searched together.
class Search {
 public:
  Search(const Generator& model, const Batch& inputs, std::span<const SearchConfig> configs,
         const SearchRuntime& runtime)
      : configs_(configs), runtime_(runtime), frontier_(model, runtime), finished_(inputs.size()) {
    poll_stop();
    std::vector<SearchRequest> requests(inputs.size());
    for (size_t i = 0; i < requests.size(); ++i) {
      requests[i].config = config_of(configs, i);
      if (!runtime.prefixes.empty()) requests[i].prefix = runtime.prefixes[i];
      requests[i].line = runtime.lines.empty() ? i : runtime.lines[i];
      if (!runtime.banned_by_record.empty()) requests[i].banned = runtime.banned_by_record[i];
    }
    frontier_.admit(inputs, std::move(requests));
  }

  std::vector<std::vector<Hypothesis>> run() {
    while (!frontier_.empty()) {
      poll_stop();
      step();
    }
    for (size_t i = 0; i < finished_.size(); ++i) {
      std::vector<Hypothesis>& hypotheses = finished_[i];
      if (hypotheses.empty()) {
        throw DataError("search: the model gives no numbers; its weights are not finite");
      }
      std::ranges::stable_sort(hypotheses, std::greater(), &Hypothesis::score);
      hypotheses.resize(std::min(hypotheses.size(), config_of(configs_, i).n_best));
    }
    return std::move(finished_);
  }

 private:
  void poll_stop() const {
    if (runtime_.stop != nullptr && *runtime_.stop) throw Stopped();
  }

  void step() {
    const NextTokens next = frontier_.step(candidates());
    std::vector<Candidate> chosen;
    for (const LiveRange range : frontier_.by_record()) {
      if (config(range).sample) {
        sample(frontier_, next, range, chosen);
      } else {
        extend_beam(frontier_, next, range, runtime_.observer, chosen);
      }
    }
    for (auto& [record, hypothesis] : frontier_.advance(chosen)) {
      finished_[record].push_back(std::move(hypothesis));
    }
    retire_decided();
  }

  const SearchConfig& config(LiveRange range) const {
    return frontier_.request(frontier_.live()[range.begin].record).config;
  }

  // The most that a record needs of a row.
  size_t candidates() const {
    size_t most = runtime_.observer == nullptr ? 1 : runtime_.observer->candidates();
    for (const LiveRange range : frontier_.by_record()) {
      most = std::max(most, config(range).sample ? 1 : beam_candidates(config(range)));
    }
    return most;
  }

  void retire_decided() {
    std::vector<size_t> decided;
    for (const LiveRange range : frontier_.by_record()) {
      const size_t record = frontier_.live()[range.begin].record;
      if (!config(range).sample && is_decided(frontier_, range, finished_[record])) {
        decided.push_back(record);
      }
    }
    for (const size_t record : decided) frontier_.retire(record);
  }

  std::span<const SearchConfig> configs_;
  const SearchRuntime& runtime_;
  Frontier frontier_;
  std::vector<std::vector<Hypothesis>> finished_;
};

}  // namespace

void SearchConfig::check() const {
  check_ranges(*this, "search");
  if (!sample && n_best > beam) {
    throw ConfigError("search: {} best of a beam of {}; widen the beam or ask for fewer", n_best,
                      beam);
  }
  if (!(temperature > 0.0f && std::isfinite(temperature)) || !(top_p > 0.0f && top_p <= 1.0f)) {
    throw ConfigError(
        "search: temperature {} and top_p {}; the first must be finite and above 0, the second in "
        "(0, 1]",
        temperature, top_p);
  }
  if (!std::isfinite(length_penalty)) {
    throw ConfigError("search: a length_penalty of {}; it must be finite", length_penalty);
  }
  if (!(coverage_penalty >= 0.0f && std::isfinite(coverage_penalty)) ||
      (coverage_penalty > 0.0f && sample)) {
    throw ConfigError(
        "search: a coverage_penalty of {} with sample {}; it must be finite and at least 0, and is "
        "for a beam",
        coverage_penalty, sample);
  }
  if (max_length > 0 && min_length > max_length) {
    throw ConfigError("search: min_length {} is more than max_length {}", min_length, max_length);
  }
}

SearchRuntime search_runtime(const TextModel& model) {
  const ColumnSpec written = model.written();
  return {.special = model.tokenizer(written.name).special(), .positions = written.positions};
}

std::vector<std::vector<Hypothesis>> search(const Generator& model, const Batch& inputs,
                                            std::span<const SearchConfig> configs,
                                            const SearchRuntime& runtime) {
  check(model, inputs.size(), configs, runtime);
  return Search(model, inputs, configs, runtime).run();
}

std::vector<std::vector<Hypothesis>> search(const Generator& model, const Batch& inputs,
                                            const SearchConfig& config,
                                            const SearchRuntime& runtime) {
  return search(model, inputs, std::span(&config, 1), runtime);
}

}  // namespace attend
