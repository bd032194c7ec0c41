// Whether a thread is training, and the source of its randomness. Outside a TrainingScope dropout
// is off and batch norm uses its running statistics, so nothing is left on by mistake.
#pragma once

#include "attend/base/rng.h"

namespace attend {

// The thread is training while one lives. Give each step its own random numbers: TrainingScope
// scope(Rng(seed, step << 32)).
class TrainingScope {
 public:
  explicit TrainingScope(Rng rng);
  ~TrainingScope();
  TrainingScope(const TrainingScope&) = delete;
  TrainingScope& operator=(const TrainingScope&) = delete;

  Rng rng;

 private:
  TrainingScope* before_;
};

// The innermost scope of this thread, or nullptr.
TrainingScope* current_training();

}  // namespace attend
