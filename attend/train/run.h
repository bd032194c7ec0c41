// A training run in a model directory: from text files to a trained model, resumed wherever it was
// stopped.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "attend/train/choices.h"
#include "attend/train/run_config.h"
#include "attend/train/trainer.h"

namespace attend {

struct RunResult {
  TrainingEnd end = TrainingEnd::kAllSteps;
  int64_t step = 0;
  int64_t first_step = 0;  // that was there already
  int64_t best_step = 0;
  double best_score = 0;
};

// What is asked for this once: no setting, and never in attend.yaml.
struct RunOptions {
  // Replace a model that has no whole checkpoint to resume from. Where there is one it is resumed:
  // the same command continues after a crash.
  bool overwrite = false;
  TimeBudget budget = {};  // of a new run with config.time
};

// Trains, or continues to train, what `config.out` holds. At the end, and whenever a better model
// is found, the directory has a whole model: config.json, model.safetensors and tokenizers. The
// observer hears which settings changed since the last run, and which checkpoints are damaged.
// Settings that cannot change, such as the model's, throw ConfigError; IoError is thrown where no
// checkpoint is whole, or a model is there without any. What cannot be trained leaves no new
// directory behind.
RunResult run_training(const RunConfig& config, TrainingObserver& observer,
                       const std::atomic<bool>& stop, const RunOptions& options = {});

// What a run would be, without training.
struct RunPlan {
  size_t parameters = 0;
  std::vector<std::pair<std::string, size_t>> parts;         // and how many parameters each has
  std::string task, record_name;                             // "translate", "pairs"
  std::vector<std::pair<std::string, size_t>> vocabularies;  // of each column
  size_t records = 0, steps_per_epoch = 0;
  size_t left_out = 0;           // records, for whatever reason
  double tokens_per_second = 0;  // of a few updates
  int64_t steps_done = 0;        // that the directory has a checkpoint of
  double seconds = 0;            // for the steps that are left
};
// Writes nothing but a temporary directory. As in run_training the observer hears what is new and
// what is damaged, and errors are the same.
RunPlan plan_training(const RunConfig& config, TrainingObserver& observer,
                      const RunOptions& options = {});

}  // namespace attend
