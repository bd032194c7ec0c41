// A run that is to be done after a given time: how large its model is and how many steps it takes,
// from a trial of this machine's speed. The plan is part of the run's settings, and so is a
// revision of it; a run that is resumed follows what is stored, not the clock. Not for use outside
// train/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attend/models/adapter.h"
#include "attend/train/choices.h"
#include "attend/train/trainer.h"

namespace attend {

// Changes the model's size, unless that was given, and the batches, steps and validations of
// `config`, so that training ends config.time after the start of the budget. Says what was chosen.
// Throws ConfigError where the time does not suffice for a few steps. `adapter`: what the run
// trains, or null for the model itself. Where layers join one after another (training.unfreeze),
// updates are taken to last as long as those of all layers.
void plan_within_time(RunConfig& config, const Task& task, const Corpus& corpus,
                      const Tokenizers& tokenizers, const AdapterDescription* adapter,
                      const TimeBudget& budget, TrainingObserver& observer);

// Revises the number of steps while the run goes on: a trial of some seconds does not know how fast
// the machine will be later.
class TimeKeeper {
 public:
  TimeKeeper() = default;  // revises nothing
  explicit TimeKeeper(double budget_seconds) : budget_(budget_seconds) {}

  // To be called when training starts, and whenever it has been saved; `seconds` count from the
  // start of the budget. Returns a better number of steps than `steps`, if that would end the run
  // far from the end of the budget.
  std::optional<int64_t> revised(int64_t step, int64_t steps, double seconds);

 private:
  struct Mark {
    int64_t step;
    double seconds;
  };

  double budget_ = 0;
  std::vector<Mark> marks_;
};

}  // namespace attend
