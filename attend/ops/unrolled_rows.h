// The rows that the steps of a walk take, and which of them got gradients. Not for use outside
// unrolled*.cpp.
#pragma once

#include <vector>

#include "attend/tensor/tensor.h"

namespace attend {

class UnrolledRows {
 public:
  explicit UnrolledRows(size_t rows) : capacity_(rows) {}

  // The next step takes `count` rows; its number.
  size_t take(size_t count);
  size_t first(size_t step) const { return steps_[step].first; }
  size_t taken() const { return taken_; }

  void mark(size_t step) { steps_[step].marked = true; }
  // Zeros in the rows of x whose steps were not marked: nothing that was asked for depends on them.
  void clear_unmarked(const Tensor& x) const;

 private:
  struct Step {
    size_t first, count;
    bool marked;
  };
  std::vector<Step> steps_;
  size_t capacity_, taken_ = 0;
};

}  // namespace attend
