// The settings of a training run, from wherever they come: what is in the model directory already,
// a file, flags, a look at the text.
#pragma once

#include "attend/train/choices.h"
#include "attend/train/run.h"
#include "cli/config_flags.h"

namespace attend::cli {

struct TrainOptions {
  std::filesystem::path file;
  DataConfig data;  // the files of text alone
  std::string preset, steps;
  bool dry_run = false, list_presets = false, json = false;
  bool overwrite = false;
  ConfigFlags flags;
};

struct TrainSettings {
  RunConfig config;
  GivenSettings given;
  std::optional<ModelSize> size;   // of a model that was chosen
  bool resumes = false;            // a run that has a checkpoint
  std::vector<std::string> lines;  // about what was chosen, for a person
};

// A run that is resumed keeps the settings that it had; a new one gets those that were not given by
// a look at its text. Throws ConfigError, CLI::ValidationError, and what reading files throws.
TrainSettings train_settings(const TrainOptions& options);

}  // namespace attend::cli
