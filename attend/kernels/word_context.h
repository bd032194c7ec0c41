// Words that are predicted from the words around them, by logistic regressions (Mikolov et al.,
// 2013): the loss and its gradients in one pass. The pairs of a window share their outputs, so that
// a window is three small matrix products (Ji et al., 2016).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "attend/kernels/rows.h"

namespace attend::kernels {

// At each position p a window [begin[p], end[p]) around it, from which p itself is left out, and
// outputs [first_output[p], first_output[p + 1]). Output o is a row of a table, which should answer
// yes (sign -1), no (sign 1), or is ignored (0).
struct WordContexts {
  std::span<const uint32_t> begin, end;    // [positions]
  std::span<const uint32_t> first_output;  // [positions + 1]
  std::span<const int32_t> outputs;        // rows of the table
  std::span<const float> signs;            // of each output
  // false: each row of a window answers for itself (skip-gram). true: they answer together, as
  // their sum over the square root of their number (CBOW).
  bool together = false;
  size_t reach = 5;  // a window begins and ends within so many positions of its own

  size_t positions() const { return begin.size(); }
};

struct WordContextLoss {
  double sum = 0;    // of softplus(sign x . y) over all answers that are not ignored
  double count = 0;  // rows, or sums of rows, that answered
};

// Where the gradients of the outputs' rows belong. Where the rows of a window answer each for
// itself, that of output o is row o of `rows` (outputs, width). Where they answer together, it is
// slopes[o] times row p of `sums` (positions, width), p the position of o.
struct WordOutputGradients {
  MutableRows rows{};
  float* slopes = nullptr;
  MutableRows sums{};
};

// With x (positions, width) and the table y (any, width). Where dx is not null, dx (positions,
// width) becomes the gradient of x, and dy that of each output's row; that of outputs at positions
// with empty windows becomes zero.
WordContextLoss word_context(const WordContexts& contexts, Rows x, Rows y, float* dx,
                             const WordOutputGradients& dy);

}  // namespace attend::kernels
