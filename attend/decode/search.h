// How a model's sequences are found: greedily, by beam, or by drawing lots. Sources go through
// together; the rows of a step are the hypotheses still being written, and no others.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "attend/base/limits.h"
#include "attend/models/generator.h"

namespace attend {

class SearchObserver;

struct SearchConfig {
  size_t beam = 5;      // hypotheses kept for a source; 1 is greedy
  size_t n_best = 1;    // how many are given back, at most the beam
  bool sample = false;  // draws n_best hypotheses instead of searching
  float temperature = 1.0f;
  size_t top_k = 0;    // draws among this many; 0: all
  float top_p = 1.0f;  // draws among the fewest that have this much probability together
  uint64_t seed = 1;

  // A hypothesis of log-probability l and n tokens, its end counted, has the score l / n^penalty.
  float length_penalty = 1.0f;
  float coverage_penalty = 0.0f;  // for search_covering(), which Translator takes
  size_t min_length = 0;          // tokens before the end
  size_t max_length = 0;          // 0: three times the source and 20 more
  bool allow_unknown = false;
  std::vector<std::vector<int32_t>> banned = {};  // sequences of tokens that are never written
  SearchObserver* observer = nullptr;             // sees a beam grow
  size_t places = 0;  // that the model has, for the start and all tokens; 0: any number

  void check(size_t vocabulary) const;  // throws ConfigError

  template <typename V>
  void fields(V& v) {  // `banned` is told in words, not in tokens
    v("beam", beam, "hypotheses kept for a source; 1 is greedy", limits::kBeam);
    v("n_best", n_best, "hypotheses given back", limits::kBeam);
    v("sample", sample, "draw instead of searching");
    v("temperature", temperature, "of drawing: above 1 wilder, below 1 tamer");
    v("top_k", top_k, "draw among this many tokens; 0: all", limits::kVocabulary);
    v("top_p", top_p, "draw among the fewest tokens that have this much probability");
    v("seed", seed, "of drawing", limits::kAny);
    v("length_penalty", length_penalty, "scores are divided by the length to this power");
    v("coverage_penalty", coverage_penalty,
      "how much it counts against a hypothesis that it did not look at all of the source");
    v("min_length", min_length, "tokens before the end may come", limits::kLength.or_0());
    v("max_length", max_length, "tokens at most; 0: three times the source and 20 more",
      limits::kLength.or_0());
    v("allow_unknown", allow_unknown, "let the unknown token be written");
  }
};

struct Hypothesis {
  std::vector<int32_t> tokens;           // without start and end
  std::vector<float> log_probabilities;  // of each token, and of the end where it was reached
  double log_probability = 0;
  double score = 0;
  bool ended = false;  // false: cut at max_length
};

// A hypothesis that is still being written.
struct Live {
  size_t source;
  size_t number = 0;  // among those its source started with
  Hypothesis so_far = {};
};

// A token that may follow.
struct Candidate {
  size_t parent;  // of the live hypotheses
  int32_t token;
  float log_probability;
  double total;          // with the parent's
  bool possible = true;  // false where a prefix says otherwise: for an observer's eyes only
};

class SearchObserver {
 public:
  virtual ~SearchObserver() = default;
  // How many candidates it wants to see after each hypothesis; there may be more.
  virtual size_t candidates() const { return 0; }
  // The candidates of one source, best first, those that are not possible last. The beam goes on
  // with those that are `kept`, or they end.
  virtual void on_step(std::span<const Live> live, std::span<const Candidate> candidates,
                       const std::vector<bool>& kept) = 0;
};

// What every hypothesis of a source starts with, for each source; or empty.
using Prefixes = std::vector<std::vector<int32_t>>;

// The best hypotheses of each source, best first. `lines` are the sources' numbers in the whole
// input, from which their lots are drawn: results do not depend on how sources were batched.
std::vector<std::vector<Hypothesis>> search(const Generator& model, const Tokens& sources,
                                            const SearchConfig& config,
                                            const Prefixes& prefixes = {},
                                            std::span<const size_t> lines = {});

}  // namespace attend
