// Sampling: each token is drawn by its probability. Not for use outside decode/.
#pragma once

#include "attend/decode/filters.h"
#include "attend/decode/frontier.h"

namespace attend {

// How many of the likeliest tokens of a row sampling looks at, where it is not all of them: what
// Frontier::step() should find, so that all rows are gone through once and in parallel.
size_t sample_candidates(const SearchConfig& config);

// Keeps the memory it works in.
class Sampler {
 public:
  // Appends the next token of each hypothesis of one record, which branches into n_best at its
  // first choice. The token at position t of sample s of line l is a function of (seed, l, s, t)
  // and of what was written before.
  void sample(const Frontier& frontier, const NextTokens& next, LiveRange range,
              std::vector<Candidate>& chosen);

  // The token that a number in [0, 1) falls on when all are laid out by their probability, under
  // temperature and filters. `likeliest` are ids of the row, the likeliest first, as many as
  // sample_candidates() asks for or more; -1: no more.
  size_t operator()(std::span<const float> logits, std::span<const int32_t> likeliest,
                    const SearchConfig& config, double uniform);

 private:
  void choose_among(std::span<const float> logits, std::span<const int32_t> likeliest,
                    const SearchConfig& config);
  void weigh_all(std::span<const float> logits, size_t likeliest, const SearchConfig& config);
  void choose_among_all(float largest, const SearchConfig& config);
  void add_what_may_stay(float largest, const SearchConfig& config);
  void add_down_to(float least);

  std::vector<float> log_mass_, mass_;  // [vocabulary]
  TokenChoices choices_;
};

// The same for one row alone.
size_t sample_token(std::span<const float> logits, const SearchConfig& config, double uniform);

}  // namespace attend
