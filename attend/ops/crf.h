// A linear-chain conditional random field (Lafferty et al., 2001): a distribution over the tag
// sequences of each packed sequence. The score of a tag sequence is start[first tag], the emission
// of each tag, transitions[tag, next tag] of each step, and end[last tag], summed; its probability
// is e to the score, over the sum of that of all tag sequences.
//
// Sums are in double. A weight may be -infinity, for what is impossible. A sequence's results have
// the same bits in any batch. An empty sequence has one tag sequence, the empty one, of score 0.
#pragma once

#include <cstdint>
#include <vector>

#include "attend/ops/cross_entropy.h"
#include "attend/tensor/packing.h"
#include "attend/tensor/tensor.h"

namespace attend {

// What does not depend on the text.
struct CrfWeights {
  Tensor transitions;  // [tags, tags], from the row's tag to the column's
  Tensor start, end;   // [tags]
};

// The logarithm of the probability of the gold tags, on the tape: [sequences]. emissions [rows,
// tags], gold int32 [rows]; a tag kIgnoredTarget may be any, and the result is of all tag sequences
// that have the others. Throws DataError for a tag that is out of range, or tags that are
// impossible.
Tensor crf_log_likelihood(const Tensor& emissions, const Packing& packing, const Tensor& gold,
                          const CrfWeights& weights);

// The most probable tag sequence of each sequence (Viterbi, 1967). Of two, that with the lower last
// tag on which they differ. Where all are impossible, the score is -infinity and the tags mean
// nothing.
struct CrfPaths {
  std::vector<int32_t> tags;   // [rows]
  std::vector<double> scores;  // of each sequence
};
CrfPaths crf_best_paths(const Tensor& emissions, const Packing& packing, const CrfWeights& weights);

// The probability of each tag at each place, of all tag sequences together: [rows, tags], off the
// tape; 0 where all are impossible.
Tensor crf_marginals(const Tensor& emissions, const Packing& packing, const CrfWeights& weights);

}  // namespace attend
