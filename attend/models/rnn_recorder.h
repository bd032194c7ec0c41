// Puts together what the steps of a walk show of attention, so that a Recorder sees what it would
// see had all steps been one call. Not for use outside models/.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "attend/attention/recorder.h"

namespace attend {

// While it lives, takes what attention shows; sequence i of the walk is order[i] of the batch.
// Hands it on when finish() is called. Does nothing where no Recorder was installed.
class WalkRecorder {
 public:
  explicit WalkRecorder(std::span<const int32_t> order);
  ~WalkRecorder();
  void finish();

 private:
  class Steps;
  std::unique_ptr<Steps> steps_;
};

}  // namespace attend
