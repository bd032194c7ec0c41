// A run that is to be done after a given time: how large its model is and how many steps it takes,
// from a trial of this machine's speed. The plan becomes part of the run's settings; from then on
// it counts, not the clock. Not for use outside train/.
#pragma once

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

}  // namespace attend
