// Weights that a walk through time uses at each of its steps, where something else happens between
// the steps. They are packed once for all of them; a step's gradient is kept, and when the tape
// comes to where the walk began, one product over all rows makes the gradient of the weights.
#pragma once

#include <memory>
#include <vector>

#include "attend/ops/recurrent.h"

namespace attend {

// How many rows a walk will take in all, where gradients may be asked of it; 0 where they will not.
// Copies of the two classes below share one walk.

// y = x W^T + b, the same numbers as linear().
class UnrolledLinear {
 public:
  UnrolledLinear() = default;
  // weight [out, in], bias [out] or undefined.
  UnrolledLinear(const Tensor& weight, const Tensor& bias, size_t rows);

  // x [n, in] to [n, out]. Throws ShapeError where steps take more rows than there are.
  Tensor operator()(const Tensor& x) const;

 private:
  struct Walk;
  std::shared_ptr<Walk> walk_;
  Tensor start_;  // a place on the tape that is reached when all steps have been
};

struct UnrolledCellOptions {
  Cell cell = Cell::kLstm;
  size_t rows = 0;
  // The first columns of the inputs of all rows, where they are known beforehand: [rows, some].
  Tensor known = {};
  // What h is multiplied with before its projection, [sequences, hidden]: variational dropout (Gal
  // and Ghahramani, 2016), the same at all steps.
  Tensor mask = {};
};

// A recurrent layer, step by step. At a step the sequences are the first ones of the step before.
class UnrolledCell {
 public:
  UnrolledCell() = default;
  UnrolledCell(const RecurrentWeights& weights, const UnrolledCellOptions& options);

  // The state after one more row of each sequence: x [n, what of the input is not known], undefined
  // where all is; `before` [n, hidden]. Throws ShapeError.
  RecurrentState step(const Tensor& x, const RecurrentState& before) const;

 private:
  struct Walk;
  std::shared_ptr<Walk> walk_;
  Tensor start_;
};

}  // namespace attend
