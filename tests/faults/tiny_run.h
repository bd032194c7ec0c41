// A training run of a few milliseconds with two checkpoints, and what it must come to.
#pragma once

#include "attend/io/config.h"
#include "attend/io/model_directory.h"
#include "tests/train/small_run.h"

namespace attend::faults {

// Four steps, a checkpoint and a validation every second one, below `work`.
inline RunConfig tiny_run(const fs::path& work) {
  RunConfig config = small_run(work, "rnn");
  rnn(config).hidden = 8;
  config.training.steps = 4;
  config.training.save_every = config.validation.every = 2;
  config.training.report_every = 1;
  config.training.keep = 1;
  config.training.average = 0;
  config.validation.metric = Metric::kLoss;
  config.schedule.kind = ScheduleKind::kConstant;  // the same steps, however many there will be
  config.schedule.warmup = 2;
  return config;
}

// The arguments of `attend` for it.
inline std::vector<std::string> train_command(const RunConfig& config) {
  const fs::path file = config.out.parent_path() / "run.yaml";
  replace_file(file, to_yaml(config, true));
  return {"train", file.string(), "--threads", "1"};
}

// The log without what a clock measured.
inline std::string timeless_log(const fs::path& model) {
  std::string text = contents(model / "log.jsonl");
  const std::string_view key = "\"tokens_per_second\"";
  for (size_t at = 0; (at = text.find(key, at)) != std::string::npos;) {
    text.erase(at, text.find(',', at) - at);
  }
  return text;
}

// What must be the same, whatever happened on the way.
inline std::vector<std::string> trained(const fs::path& model) {
  std::vector<std::string> result = outcome(model);
  result.push_back(timeless_log(model));
  for (const char* name : {"config.json", "attend.yaml", "tokenizer.model"}) {
    result.push_back(contents(model / name));
  }
  return result;
}

}  // namespace attend::faults
