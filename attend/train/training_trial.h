// A short trial of how fast a model trains on this machine. Not for use outside train/.
#pragma once

#include <memory>
#include <optional>

#include "attend/models/adapter.h"
#include "attend/train/trainer.h"

namespace attend {

// Updates of a new model that nobody keeps.
class TrainingTrial {
 public:
  // The corpus must outlive the trial. With an adapter, only that is trained.
  TrainingTrial(const RunConfig& config, const Task& task, const Corpus& corpus,
                const Tokenizers& tokenizers, const AdapterDescription* adapter = nullptr);

  // Of an update: the median of parts of a trial that takes at least so long.
  double seconds_of_step(double at_least);

  double parameters() const { return parameters_; }

 private:
  void run(int64_t steps);

  RunConfig config_;
  TextModel model_;
  std::unique_ptr<Objective> objective_;
  TrainingObserver nobody_;
  double parameters_ = 0;
  std::optional<Trainer> trainer_;
};

}  // namespace attend
