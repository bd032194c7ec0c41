// The models of a lesson: trained once, and kept in the user's cache. Not for use outside cli/.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attend/train/run_config.h"
#include "attend/train/trainer.h"
#include "cli/lessons.h"

namespace attend::cli {

// $XDG_CACHE_HOME/attend/lessons, or ~/.cache/attend/lessons. Throws IoError where neither
// variable says where that is.
std::filesystem::path lesson_cache();

// How a model is trained below `directory`, which has its text in text.txt and becomes `model`.
// With `steps`, that many instead of as many as it needs.
RunConfig lesson_config(const LessonModel& model, const std::filesystem::path& directory,
                        std::optional<int64_t> steps = std::nullopt);

// Hears how training goes on, and whether there is anything to train.
class LessonObserver : public TrainingObserver {
 public:
  virtual void on_start(const LessonModel& model) = 0;
  virtual void on_trained(const LessonModel& model) = 0;
};

// The directory of a model below `cache`, which is trained unless it has been. What was trained by
// other settings, of an earlier version, is removed then. None where `stop` ended the training; it
// is resumed the next time. Throws Error.
std::optional<std::filesystem::path> lesson_model(const LessonModel& model,
                                                  const std::filesystem::path& cache,
                                                  std::optional<int64_t> steps,
                                                  LessonObserver& observer,
                                                  const std::atomic<bool>& stop);

}  // namespace attend::cli
