// Rows of a call that no pair reads: keys that no query may look at, and queries that may look at
// nothing. Not for use outside attention/.
#pragma once

#include <vector>

#include "attend/attention/problem.h"

namespace attend {

// Such rows may hold anything. Kernels of pairs pass over them; but what takes whole matrices, as
// the gradient of a projection, multiplies them with zeros, and 0 NaN is NaN.
class UnreadRows {
 public:
  explicit UnreadRows(const AttentionProblem& problem) : problem_(problem) {}

  // x, with zeros in its unread rows if it holds NaN or infinity. Their gradient is 0.
  Tensor clear_queries(const Tensor& x) { return clear(x, queries_); }
  Tensor clear_keys(const Tensor& x) { return clear(x, keys_); }

 private:
  using Read = std::vector<bool>;

  Tensor clear(const Tensor& x, const Read& read);
  void find();
  void find_in_ranges(size_t sequence);
  void find_in_pairs(size_t sequence);

  const AttentionProblem& problem_;
  Read queries_, keys_;  // whether a row is read
  bool found_ = false;
};

}  // namespace attend
