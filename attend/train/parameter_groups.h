// Which parameters are trained, and at which rates: patterns, rates by layer, layers that join one
// after another (Howard and Ruder, 2018).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/train/objective.h"
#include "attend/train/optimizer.h"

namespace attend {

// PATTERN=FACTOR, as in training.rates.
struct RatePattern {
  std::string pattern;
  double factor = 1.0;
};
std::vector<RatePattern> rate_patterns(std::span<const std::string> texts);  // throws ConfigError

// When layers join, as in training.unfreeze: after so many steps each, or after each epoch.
struct UnfreezeEvery {
  int64_t steps = 0;  // 0: an epoch
};
std::optional<UnfreezeEvery> unfreezing_of(std::string_view text);  // throws ConfigError

// What begins the names of an objective's own parameters.
inline constexpr std::string_view kObjectivePrefix = "objective.";

// The parameters of the model that are not frozen, and those of the objective, with the rates of
// training.rates times those of training.layer_decay: 1 for the top layer and what is above it.
// Those that are frozen get no gradient from now on. Throws ConfigError for a pattern that matches
// nothing.
std::vector<ParameterGroup> trained_groups(Model& model, Objective& objective,
                                           const TrainingConfig& config);

// Takes parameters of lower layers out of training until it is their turn: they get no gradient, so
// that an optimizer leaves them and their moments as they are.
class Unfreezing {
 public:
  // After trained_groups().
  Unfreezing(Model& model, const TrainingConfig& config);

  // Whether that changed anything; follows from the numbers of updates and epochs alone.
  bool at(int64_t step, uint64_t epoch);
  size_t layers() const { return layers_; }    // that there are
  size_t trained() const { return trained_; }  // of them, the upper ones

 private:
  struct Part {
    Tensor tensor;  // with its gradient
    size_t depth;
  };
  void apply();

  Model& model_;
  std::optional<UnfreezeEvery> every_;
  std::vector<Part> parts_;
  size_t layers_ = 0, trained_ = 0;
};

}  // namespace attend
