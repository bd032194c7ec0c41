// The forward and backward sums of a conditional random field, for one sequence at a time. Not for
// use outside crf*.cpp.
#pragma once

#include <limits>
#include <vector>

#include "attend/kernels/chain.h"
#include "attend/ops/crf.h"

namespace attend {

// The logarithm of no probability.
inline constexpr double kCrfImpossible = -std::numeric_limits<double>::infinity();

// Expected counts of transitions, starts and ends, summed over sequences.
struct CrfCounts {
  // Those of transitions are transitions + products * e^(transition - peak): outer products of
  // vectors are most of the work. products [tags, padded tags].
  std::vector<double> transitions, products, start, end;

  explicit CrfCounts(size_t tags)
      : transitions(tags * tags),
        products(tags * kernels::padded_for_chain(tags)),
        start(tags),
        end(tags) {}
};

// The weights as doubles. Pointers are to [length, tags]; lengths are at least 1. Const members may
// be called from several threads at once.
class CrfChain {
 public:
  explicit CrfChain(const CrfWeights& weights);

  size_t tags() const { return tags_; }
  double transition(size_t from, size_t to) const { return transitions_[from * tags_ + to]; }
  // For each tag the largest before[i] + transition(i, tag), and the first i that has it. best and
  // from are [padded()].
  void best_steps(const double* before, double* best, int32_t* from) const;
  size_t padded() const { return padded_; }  // tags as kernels/chain.h wants them
  double start(size_t tag) const { return start_[tag]; }
  double end(size_t tag) const { return end_[tag]; }

  // alpha[t, j]: the logarithm of the sum over all beginnings that have tag j at place t. Returns
  // that over whole tag sequences.
  double forward(const double* emissions, size_t length, double* alpha) const;
  // beta[t, i]: the same of all continuations after tag i at place t.
  void backward(const double* emissions, size_t length, double* beta) const;
  // Adds `weight` times the expected counts of a sequence to `counts`, and to `places` [length,
  // tags] those of each tag at each place.
  void count(const double* emissions, size_t length, double weight, double* places,
             CrfCounts& counts) const;
  // Counts of transitions as they are.
  std::vector<double> transition_counts(const CrfCounts& counts) const;

 private:
  double sum_into(const double* before, size_t to) const;
  double sum_from(size_t from, const double* after) const;

  size_t tags_, padded_;
  std::vector<double> transitions_, start_, end_;
  // Matrices are [tags, padded].
  std::vector<double> peaks_;      // the largest transition to each tag
  std::vector<double> powers_;     // [from, to]: e^(transition - peak)
  std::vector<double> powers_to_;  // [to, from]
  std::vector<double> steps_;      // [from, to]: transitions
};

// log(sum(e^x)).
double log_sum_exp(const double* x, size_t size);

}  // namespace attend
