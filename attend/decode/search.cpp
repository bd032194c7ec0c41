#include "attend/decode/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "attend/base/error.h"
#include "attend/decode/chooser.h"
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
      : configs_(configs),
        runtime_(runtime),
        frontier_(model, runtime),
        choose_(runtime.observer),
        finished_(inputs.size()) {
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
    for (Frontier::Finished& done : frontier_.advance(choose_(frontier_))) {
      finished_[done.record].push_back(std::move(done.hypothesis));
    }
    retire_decided(frontier_, finished_);
  }

  std::span<const SearchConfig> configs_;
  const SearchRuntime& runtime_;
  Frontier frontier_;
  Chooser choose_;
  std::vector<std::vector<Hypothesis>> finished_;
};

}  // namespace

void SearchConfig::check() const {
  check_ranges(*this, "search");
  if (!sample && n_best > beam) {
    throw ConfigError("search: {} best of a beam of {}; widen the beam or ask for fewer", n_best,
                      beam);
  }
  const auto require = [](bool good, const char* name, float value, const char* what) {
    if (!good) throw ConfigError("search: {} {}; it must be {}", name, value, what);
  };
  const auto is_share = [](float value) { return value > 0.0f && value <= 1.0f; };
  const auto is_positive = [](float value) { return value > 0.0f && std::isfinite(value); };
  constexpr const char *kShare = "above 0 and at most 1", *kPositive = "finite and above 0",
                       *kFinite = "finite";
  require(is_positive(temperature), "temperature", temperature, kPositive);
  require(is_share(top_p), "top_p", top_p, kShare);
  require(min_p >= 0.0f && min_p <= 1.0f, "min_p", min_p, "at least 0 and at most 1");
  require(is_share(typical_p), "typical_p", typical_p, kShare);
  require(is_positive(repetition_penalty), "repetition_penalty", repetition_penalty, kPositive);
  require(std::isfinite(presence_penalty), "presence_penalty", presence_penalty, kFinite);
  require(std::isfinite(frequency_penalty), "frequency_penalty", frequency_penalty, kFinite);
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
  SearchRuntime runtime{.special = model.tokenizer(written.name).special(),
                        .positions = written.positions};
  if (const auto joined = model.model->signature().joined) {
    runtime.joint_positions = joined->positions;
  }
  return runtime;
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
