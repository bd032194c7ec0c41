// How sequences are found: greedily, by beam search, or by sampling. Records are searched together;
// a step computes the rows of unfinished hypotheses only.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "attend/base/limits.h"
#include "attend/models/generator.h"

namespace attend {

struct TextModel;

// The longest hypothesis for a model that reads nothing, unless SearchConfig sets one.
inline constexpr size_t kLengthWithoutInput = 256;

// The settings of a search; each record may have its own.
struct SearchConfig {
  size_t beam = 5;      // hypotheses kept for each record; 1 is greedy
  size_t n_best = 1;    // hypotheses returned, at most the beam
  bool sample = false;  // samples n_best hypotheses instead of searching
  // Sampling; the filters apply in this order.
  float temperature = 1.0f;
  size_t top_k = 0;    // samples among this many tokens; 0: all
  float top_p = 1.0f;  // samples among the fewest tokens with this total probability
  float min_p = 0.0f;  // samples among tokens with at least this share of the largest probability
  float typical_p = 1.0f;  // samples among the most typical tokens with this total probability
  uint64_t seed = 1;

  // Penalties on tokens that already occur, for every kind of search, applied before the filters.
  // Log-probabilities of hypotheses remain the model's own.
  float repetition_penalty = 1.0f;  // for tokens in the prefix and after it
  float presence_penalty = 0.0f;    // for tokens after the prefix
  float frequency_penalty = 0.0f;   // for tokens after the prefix, each time they occur

  // A hypothesis with log-probability l and n tokens, end included, has the score l / n^penalty.
  float length_penalty = 1.0f;
  float coverage_penalty = 0.0f;  // for search_covering(), which Translator uses
  size_t min_length = 0;          // the fewest tokens before the end
  size_t max_length = 0;          // 0: three times the input and 20 more, or 256 if the model
                                  // reads nothing
  bool allow_unknown = false;

  void check() const;  // throws ConfigError

  template <typename V>
  void fields(V& v) {
    v("beam", beam, "hypotheses kept for each input; 1 is greedy", limits::kBeam);
    v("n_best", n_best, "hypotheses returned", limits::kBeam);
    v("sample", sample, "sample instead of searching");
    sampling_fields(v);
    penalty_fields(v);
    v("length_penalty", length_penalty, "scores are divided by the length to this power");
    v("coverage_penalty", coverage_penalty,
      "how much a hypothesis loses for input that its attention did not cover");
    v("min_length", min_length, "fewest tokens", limits::kLength.or_0());
    v("max_length", max_length,
      "most tokens; 0: three times the input and 20 more, 256 without an input",
      limits::kLength.or_0());
    v("allow_unknown", allow_unknown, "let the unknown token be written");
  }

  template <typename V>
  void sampling_fields(V& v) {
    v("temperature", temperature, "of sampling: more random above 1, less below");
    v("top_k", top_k, "sample among this many tokens; 0: all", limits::kVocabulary);
    v("top_p", top_p, "sample among the fewest tokens that have this much probability");
    v("min_p", min_p,
      "sample among tokens with at least this share of the likeliest one's probability");
    v("typical_p", typical_p,
      "sample among the fewest tokens of typical information that have this much probability");
    v("seed", seed, "of sampling", limits::kAny);
  }

  template <typename V>
  void penalty_fields(V& v) {
    v("repetition_penalty", repetition_penalty,
      "divide positive logits, and multiply negative ones, of tokens already in the text or "
      "prompt");
    v("presence_penalty", presence_penalty,
      "subtract this from the logits of tokens already written");
    v("frequency_penalty", frequency_penalty,
      "subtract this for each time a token was already written");
  }
};

// A sequence that a search found.
struct Hypothesis {
  std::vector<int32_t> tokens;  // without start and end
  // Of each token, and of the end if it was reached. They are the model's own, without penalties or
  // filters.
  std::vector<float> log_probabilities;
  double log_probability = 0;
  double score = 0;    // by which the search ranks it, penalties included
  bool ended = false;  // false: cut at max_length
};

// A hypothesis that is not finished.
struct Live {
  size_t record;
  size_t sample = 0;  // which of the record's samples it is
  Hypothesis so_far = {};
  double total = 0;   // the log-probability with penalties, by which a search ranks it
  size_t read = 0;    // tokens in the model's state
  size_t rolled = 0;  // how often it was read again: see SearchRuntime::window
  size_t slot = 0;    // of the candidate that it continued with
};

// A token that may follow a hypothesis.
struct Candidate {
  size_t parent;  // its place among the live hypotheses
  int32_t token;
  float log_probability;  // the model's own
  double total;           // with the parent's, penalties included
  bool possible = true;   // false if a prefix rules it out: only an observer sees it
  size_t sample = 0;      // which of the record's samples continues with it
  bool last = false;      // it finishes the hypothesis
  size_t slot = 0;        // any number, for the driver of the search
};

// Watches a search step by step.
class SearchObserver {
 public:
  virtual ~SearchObserver() = default;
  // How many candidates of each hypothesis it wants; it may get more.
  virtual size_t candidates() const { return 0; }
  // Called for each record in each step of a beam search, with the record's candidates, best first
  // and impossible ones last. Those that are `kept` continue the beam or finish.
  virtual void on_step(std::span<const Live> live, std::span<const Candidate> candidates,
                       const std::vector<bool>& kept) = 0;
};

// Limits of a search that is shown step by step: its beam, and the candidates of a hypothesis.
inline constexpr Range kWatchedBeam{1, 16};
inline constexpr Range kWatchedCandidates{1, 20};

// Sequences of ids, without start and end.
using TokenSequences = std::vector<std::vector<int32_t>>;
using Prefixes = TokenSequences;  // what the hypotheses of each record start with

// What a search needs beside its settings. Lists by record are empty or have an entry for each.
struct SearchRuntime {
  SpecialTokens special = {};  // of the tokenizer of the written column
  // With an observer, prefixes are read token by token.
  SearchObserver* observer = nullptr;
  // The search throws Stopped at the first step after this becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;
  Prefixes prefixes = {};
  // The number of each record in the whole input, which determines the random numbers of its
  // samples; empty: 0, 1, 2 ...
  std::vector<size_t> lines = {};
  TokenSequences banned = {};  // never written, in any record
  std::vector<TokenSequences> banned_by_record = {};
  // The model's positions for the start and all tokens; none: no limit.
  std::optional<size_t> positions = {};
  // The same if input and output are one sequence and share the positions.
  std::optional<size_t> joint_positions = {};
  // The most tokens that a hypothesis reads at once. A longer one continues from the last half of
  // them, which is read again, and so may outgrow the positions; of a longer prefix only the end is
  // read. None: hypotheses are cut at the last position.
  std::optional<size_t> window = {};
  // Whether prefixes are scored, which needs logits at each of their tokens. Otherwise their
  // log-probabilities are 0, and scores do not count their tokens.
  bool score_prefixes = true;
};

// The special ids and positions of a model's written column. Throws ConfigError if it writes
// nothing.
SearchRuntime search_runtime(const TextModel& model);

// Thrown when SearchRuntime::stop ends a search.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "the search was stopped"; }
};

// The best hypotheses of each record, best first, by one config for all or one for each. A record's
// result depends only on its inputs, config, prefix, banned sequences and line number: it has the
// same bits alone and in any batch. Throws ConfigError for invalid settings, DataError if lists do
// not match the records or the model's output is not finite.
std::vector<std::vector<Hypothesis>> search(const Generator& model, const Batch& inputs,
                                            std::span<const SearchConfig> configs,
                                            const SearchRuntime& runtime);
std::vector<std::vector<Hypothesis>> search(const Generator& model, const Batch& inputs,
                                            const SearchConfig& config,
                                            const SearchRuntime& runtime = {});

// The config of record i, whether there is one for all or one for each.
inline const SearchConfig& config_of(std::span<const SearchConfig> configs, size_t i) {
  return configs[configs.size() == 1 ? 0 : i];
}

}  // namespace attend
