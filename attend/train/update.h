// The gradients of one update: those of its shards, summed in a fixed binary tree.
//
// An update has a power of two of shards, each with random numbers of its own, so that what it
// gives does not depend on who computes which of them. With four, the sum is (1 + 2) + (3 + 4):
// like the digits of a binary counter, at most log2(shards) + 1 sets of gradients are alive.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "attend/base/rng.h"
#include "attend/tensor/tape.h"
#include "attend/train/objective.h"

namespace attend {

// Which update of a run, and how many shards it has.
struct UpdateNumber {
  uint64_t seed = 1, update = 0;
  size_t shards = 1;

  Rng dropout(size_t shard) const;             // for a TrainingScope
  RandomStream objective(size_t shard) const;  // for a LossContext
};

// A term of a loss, for reports.
struct LossPart {
  std::string name;
  double sum = 0, labels = 0;  // as in LossTerm
};
// Adds the terms of one more loss.
void add_parts(const Loss& loss, std::vector<LossPart>& parts);

// The gradients of an update, and its loss.
struct UpdateGradients {
  std::vector<Tensor> gradients;     // of each parameter, undefined where it has none
  std::vector<RowGradient> rows;     // of each whose gradient is rows, undefined for others
  double loss = 0;                   // the sum over all shards
  double count = 0;                  // labels of all shards
  std::vector<LossPart> parts = {};  // of the loss, where it has several
};

// Calls loss(shard) for each shard in turn, inside a TrainingScope. Gradients are those of the sum
// of all losses, divided by the number of all labels unless the loss is `summed`. Parameters keep
// no gradient.
UpdateGradients update_gradients(std::span<const NamedTensor> parameters,
                                 const UpdateNumber& number,
                                 const std::function<Loss(size_t shard)>& loss);

}  // namespace attend
