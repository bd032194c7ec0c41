#include "cli/lesson_models.h"

#include <fmt/format.h>

#include <cstdlib>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/hash.h"
#include "attend/io/config.h"
#include "attend/train/run.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = "text.txt";
constexpr const char* kModel = "model";
constexpr const char* kTrained = "trained";  // an empty file, when the model is whole

// Another text or other settings make another model.
std::string fingerprint(const LessonModel& model, const std::string& text,
                        std::optional<int64_t> steps) {
  Hash hash;
  hash.add(text);
  hash.add(to_json(lesson_config(model, "", steps)));
  return fmt::format("{:016x}", hash.value());
}

// Directories of the same model that another version of the program made.
void remove_others(const fs::path& kept, std::string_view name) {
  const std::string prefix = fmt::format("{}-", name);
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(kept.parent_path(), none)) {
    const std::string found = entry.path().filename().string();
    const size_t length = kept.filename().string().size();
    if (found.starts_with(prefix) && found.size() == length && entry.path() != kept) {
      fs::remove_all(entry.path(), none);
    }
  }
}

}  // namespace

fs::path lesson_cache() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  // The standard has a relative path ignored.
  fs::path cache = variable("XDG_CACHE_HOME");
  if (!cache.is_absolute()) cache = variable("HOME") / ".cache";
  if (cache.is_absolute()) return cache / "attend" / "lessons";
  throw IoError("explore: no place to keep the models of lessons; set XDG_CACHE_HOME or HOME");
}

RunConfig lesson_config(const LessonModel& model, const fs::path& directory,
                        std::optional<int64_t> steps) {
  RunConfig config;
  const std::string origin = fmt::format("lesson model {}", model.name);
  if (const auto preset = peek(model.settings, "model.preset", origin)) {
    config.model = ModelConfig::of_preset(*preset);
  }
  // What all of them have in common.
  config.vocabulary.tokenizer.kind = TokenizerKind::kCharacter;
  config.data.held_out = 0.02;
  config.batch.tokens = 3000;
  config.optimizer.rate = 3e-3;
  config.schedule.warmup = 50;
  config.training.label_smoothing = 0.0f;
  config.training.report_every = 10;
  config.training.save_every = 100;
  config.training.keep = 1;
  config.validation.every = 50;
  config.validation.patience = 0;
  config.snapshots.every = 20;
  read_yaml(config, model.settings, origin);
  if (steps) config.training.steps = *steps;
  const std::vector<ColumnSpec> columns = signature_of(config.model).columns;
  if (columns.front().name == "source") {
    config.data.source = directory / kText;
  } else {
    config.data.text = {directory / kText};
  }
  if (columns.size() == 1) config.data.documents = DocumentKind::kLine;
  config.out = directory / kModel;
  return config;
}

std::optional<fs::path> lesson_model(const LessonModel& model, const fs::path& cache,
                                     std::optional<int64_t> steps, LessonObserver& observer,
                                     const std::atomic<bool>& stop) {
  const std::string text = model.text();
  const fs::path directory =
      cache / fmt::format("{}-{}", model.name, fingerprint(model, text, steps));
  if (fs::exists(directory / kTrained)) return directory / kModel;
  observer.on_start(model);
  make_directories(directory);
  replace_file(directory / kText, text);
  const RunResult result = run_training(lesson_config(model, directory, steps), observer, stop);
  if (result.end == TrainingEnd::kStopped) return std::nullopt;
  replace_file(directory / kTrained, "");
  remove_others(directory, model.name);
  observer.on_trained(model);
  return directory / kModel;
}

}  // namespace attend::cli
