// Whether the thread is training, and where its randomness then comes from. Outside a TrainingScope
// dropout is off and batch norm uses its running statistics: nothing is left on by mistake.
#pragma once

#include "attend/base/rng.h"

namespace attend {

// While one lives in a thread, that thread trains. Give each step its own place in the random
// numbers: TrainingScope scope(Rng(seed, step << 32)).
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
