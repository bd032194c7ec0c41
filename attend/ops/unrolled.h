// Weights that a recurrent walk uses at every step, for walks with other ops between the steps.
// They are packed once for all steps. The gradients of the steps are kept until the tape reaches
// the start of the walk; then one product over all rows gives the gradient of the weights.
#pragma once

#include <memory>
#include <vector>

#include "attend/ops/recurrent.h"

namespace attend {

// `rows` below is the number of rows of all steps together if gradients may be needed, otherwise 0.
// Copies of the two classes share one walk.

// y = x W^T + b, the same numbers as linear().
class UnrolledLinear {
 public:
  UnrolledLinear() = default;
  // weight [out, in], bias [out] or undefined.
  UnrolledLinear(const Tensor& weight, const Tensor& bias, size_t rows);

  // x [n, in] to [n, out]. Throws ShapeError if the steps take more than `rows`.
  Tensor operator()(const Tensor& x) const;

 private:
  struct Walk;
  std::shared_ptr<Walk> walk_;
  Tensor start_;  // a place on the tape that is reached when all steps have been
};

struct UnrolledCellOptions {
  Cell cell = Cell::kLstm;
  size_t rows = 0;
  // The first columns of the inputs of all rows, if they are known in advance: [rows, some].
  Tensor known = {};
  // Multiplies h before its projection, [sequences, hidden]: variational dropout (Gal and
  // Ghahramani, 2016), the same at all steps.
  Tensor mask = {};
};

// A recurrent layer, step by step. The sequences of a step are the first ones of the step before.
class UnrolledCell {
 public:
  UnrolledCell() = default;
  UnrolledCell(const RecurrentWeights& weights, const UnrolledCellOptions& options);

  // The state after one more row of each sequence: x [n, the columns that are not known], undefined
  // if all are; `before` [n, hidden]. Throws ShapeError.
  RecurrentState step(const Tensor& x, const RecurrentState& before) const;

 private:
  struct Walk;
  std::shared_ptr<Walk> walk_;
  Tensor start_;
};

}  // namespace attend
