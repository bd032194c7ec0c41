// A step of any search: the tokens that the hypotheses of all records go on with, whether they are
// searched or sampled. Not for use outside decode/.
#pragma once

#include "attend/decode/frontier.h"
#include "attend/decode/sampling.h"

namespace attend {

class Chooser {
 public:
  // The observer may be null, and must outlive it.
  explicit Chooser(SearchObserver* observer = nullptr) : observer_(observer) {}

  // Steps the model. What comes back is for Frontier::advance().
  std::vector<Candidate> operator()(Frontier& frontier);

 private:
  size_t candidates(const Frontier& frontier) const;

  SearchObserver* observer_;
  Sampler sampler_;
};

// Retires the records that have their hypotheses, after advance(). `finished` are those of each
// record so far.
void retire_decided(Frontier& frontier, std::span<const std::vector<Hypothesis>> finished);

}  // namespace attend
