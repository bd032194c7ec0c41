// Words predicted from the words around them, as a loss of two sets of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend {

// What is predicted at each position of a text; see kernels/word_context.h.
struct WordWindows {
  std::vector<uint32_t> begin, end;    // the window of each position, which is not in it itself
  std::vector<uint32_t> first_output;  // of each position, and the number of all
  std::vector<int32_t> outputs;        // rows of the table of outputs
  std::vector<float> signs;            // of each: -1 it should answer yes, 1 no, 0 ignored
  bool together = false;               // the rows of a window answer together (CBOW)
  size_t reach = 5;                    // positions between a window's end and its own, at most

  size_t positions() const { return begin.size(); }
};

struct WordContextSum {
  Tensor sum;        // one element: of softplus(sign x . y) over all answers
  double count = 0;  // rows, or sums of rows, that answered
};

// x [positions, width], table [outputs, width]. The gradient of the table is rows (RowGradient).
// Throws ShapeError and DataError for what does not fit.
WordContextSum word_context_loss(const Tensor& x, const Tensor& table, const WordWindows& windows);

}  // namespace attend
