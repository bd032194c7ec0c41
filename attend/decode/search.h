// How a model's sequences are found: greedily, by beam search, or by sampling. Records go through
// together; the rows of a step are the hypotheses that are still being written, and no others.
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

// The longest hypothesis of a record that reads nothing, where SearchConfig does not say.
inline constexpr size_t kLengthWithoutInput = 256;

// Settings, and nothing else: each record may have its own.
struct SearchConfig {
  size_t beam = 5;      // hypotheses kept for a record; 1 is greedy
  size_t n_best = 1;    // hypotheses returned, at most the beam
  bool sample = false;  // samples n_best hypotheses instead of searching
  // Sampling, in this order: see filters.h.
  float temperature = 1.0f;
  size_t top_k = 0;    // samples among this many tokens; 0: all
  float top_p = 1.0f;  // among the fewest tokens that have this much probability together
  float min_p = 0.0f;  // among tokens with at least this share of the likeliest one's probability
  float typical_p = 1.0f;  // among as many as have this much, whose information is typical
  uint64_t seed = 1;

  // Penalties on tokens that are there already, for every kind of search, before all of the above:
  // see penalties.h. Log-probabilities of hypotheses remain the model's own.
  float repetition_penalty = 1.0f;  // of tokens in the prefix and after it
  float presence_penalty = 0.0f;    // of tokens after the prefix
  float frequency_penalty = 0.0f;   // and for each time that they are there

  // A hypothesis of log-probability l and n tokens, its end counted, has the score l / n^penalty.
  float length_penalty = 1.0f;
  float coverage_penalty = 0.0f;  // for search_covering(), which Translator uses
  size_t min_length = 0;          // tokens before the end
  size_t max_length = 0;          // 0: three times what the record reads and 20 more, 256 where it
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

struct Hypothesis {
  std::vector<int32_t> tokens;  // without start and end
  // Of each token, and of the end where it was reached. They are the model's own: tokens that must
  // not be written keep their share.
  std::vector<float> log_probabilities;
  double log_probability = 0;
  double score = 0;    // of a search under penalties, by what they leave of the log-probability
  bool ended = false;  // false: cut at max_length
};

// A hypothesis that is still being written.
struct Live {
  size_t record;
  size_t sample = 0;  // which of the record's samples it is
  Hypothesis so_far = {};
  double total = 0;   // what a search ranks it by: its log-probability, under penalties
  size_t read = 0;    // tokens that the model's state holds
  size_t rolled = 0;  // how often it was read anew: see SearchRuntime::window
  size_t slot = 0;    // that of the candidate it continued with
};

// A token that may follow.
struct Candidate {
  size_t parent;  // of the live hypotheses
  int32_t token;
  float log_probability;  // the model's own
  double total;           // with the parent's, under penalties
  bool possible = true;   // false where a prefix rules it out: only an observer sees it
  size_t sample = 0;      // which of the record's samples goes on with it
  bool last = false;      // the hypothesis is finished with it
  size_t slot = 0;        // any number, for who drives the search
};

class SearchObserver {
 public:
  virtual ~SearchObserver() = default;
  // How many candidates it wants to see after each hypothesis; there may be more.
  virtual size_t candidates() const { return 0; }
  // Called for each record in each step of a beam search. The candidates of the record, best first,
  // impossible ones last; the beam continues with those that are `kept`, or they end.
  virtual void on_step(std::span<const Live> live, std::span<const Candidate> candidates,
                       const std::vector<bool>& kept) = 0;
};

// The widest beam, and the most candidates of a hypothesis, of a search that is shown step by step.
inline constexpr Range kWatchedBeam{1, 16}, kWatchedCandidates{1, 20};

using TokenSequences = std::vector<std::vector<int32_t>>;
using Prefixes = TokenSequences;  // what the hypotheses of each record start with

// What a search needs besides its settings. Lists by record are empty, or have an entry for each.
struct SearchRuntime {
  SpecialTokens special = {};  // of the tokenizer of what is written
  // Sees beams grow. Where there is one, prefixes are read token by token.
  SearchObserver* observer = nullptr;
  // The search throws Stopped at the first step after this becomes true.
  const std::atomic<bool>* stop = nullptr;
  Prefixes prefixes = {};
  // The numbers of the records in the whole input, which choose the random numbers of their
  // samples; empty: 0, 1, 2 ...
  std::vector<size_t> lines = {};
  TokenSequences banned = {};  // never written, in any record
  std::vector<TokenSequences> banned_by_record = {};
  // That the model has for the start and all tokens; none: any number.
  std::optional<size_t> positions = {};
  // The same where what a record reads takes positions of them as well, as one sequence.
  std::optional<size_t> joint_positions = {};
  // Tokens that a hypothesis reads at once, at most. One that is longer is read anew, from the last
  // half of them on, and may outgrow the positions; of a longer prefix the end is read. None:
  // hypotheses are cut at the last position.
  std::optional<size_t> window = {};
  // Whether prefixes are scored, for which the model has to say what it expects after each of their
  // tokens. Otherwise their log-probabilities are 0, and a score does not count their tokens.
  bool score_prefixes = true;
};

// The special ids and the positions of what a model writes. Throws ConfigError where it writes
// nothing.
SearchRuntime search_runtime(const TextModel& model);

// Thrown when SearchRuntime::stop ends a search.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "the search was stopped"; }
};

// The best hypotheses of each record, best first, by one config for all or one for each. A record's
// result is a function of its inputs, config, prefix, banned sequences and line number: it has the
// same bits alone, in any batch and in any company. Throws ConfigError for settings that cannot
// be, DataError where lists do not match the records or the model's output is not finite.
std::vector<std::vector<Hypothesis>> search(const Generator& model, const Batch& inputs,
                                            std::span<const SearchConfig> configs,
                                            const SearchRuntime& runtime);
std::vector<std::vector<Hypothesis>> search(const Generator& model, const Batch& inputs,
                                            const SearchConfig& config,
                                            const SearchRuntime& runtime = {});

// The config of record i, where there is one for all or one for each.
inline const SearchConfig& config_of(std::span<const SearchConfig> configs, size_t i) {
  return configs[configs.size() == 1 ? 0 : i];
}

}  // namespace attend
