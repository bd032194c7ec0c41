// A slowly moving mean of the weights, which often serves better than the last ones (Polyak and
// Juditsky, 1992).
#pragma once

#include <filesystem>
#include <vector>

#include "attend/nn/visit.h"

namespace attend {

class MovingAverage {
 public:
  // Starts from the parameters as they are.
  MovingAverage(std::vector<NamedTensor> parameters, double decay);

  // mean = decay mean + (1 - decay) parameters; in the first steps the decay is smaller, (1 + step)
  // / (10 + step), so that the start is soon forgotten.
  void update(int64_t step);

  // Puts the mean into the model, and what was there back.
  void swap();

  std::vector<NamedTensor> state() const;  // under the parameters' names

 private:
  std::vector<NamedTensor> parameters_;
  std::vector<Tensor> mean_;
  double decay_;
};

// The mean of the weights in the newest checkpoints of a run, as a model of its own in `out`
// (Vaswani et al., 2017, took the last 5). Returns their steps. Throws IoError where there are not
// as many that are whole, or where `out` is the run itself.
std::vector<int64_t> average_checkpoints(const std::filesystem::path& run, size_t last,
                                         const std::filesystem::path& out);

}  // namespace attend
