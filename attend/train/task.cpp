#include "attend/train/task.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "attend/base/counted.h"
#include "attend/base/error.h"

namespace attend {
namespace {

constexpr double kMostWeight = 1000;

// "--preset label, --preset tiny": models that a task can train.
std::string fitting_presets(const Task& task) {
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds()) {
    if (kind.presets.empty()) continue;
    const ModelConfig config = ModelConfig::of_preset(kind.presets.front().name);
    if (!fits(task, signature_of(config))) continue;
    for (const ModelPreset& preset : kind.presets) names.emplace_back(preset.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

[[noreturn]] void fail_other_data(const Task& task, const Task& given) {
  const std::string presets = fitting_presets(given);
  throw ConfigError(
      "train: the model needs {} (task {}), but the data has {} (task {}); give {}{}",
      task.column_names(), task.name, given.column_names(), given.name, task.flags,
      presets.empty() ? "" : fmt::format(", or choose another model with --preset: {}", presets));
}

}  // namespace

bool fits(const Task& task, const Signature& signature) {
  if (!signature.objective.empty() && signature.objective != task.objective) return false;
  return std::ranges::equal(task.columns, signature.columns,
                            [](const TaskColumn& wanted, const ColumnSpec& column) {
                              return wanted.name == column.name && wanted.kind == column.kind &&
                                     wanted.written == column.written;
                            });
}

std::string Task::column_names() const {
  std::vector<std::string_view> names;
  names.reserve(columns.size());
  for (const TaskColumn& column : columns) names.push_back(column.name);
  return fmt::format("{}", fmt::join(names, " and "));
}

std::span<const std::unique_ptr<const Task>> tasks() {
  static const auto all = [] {
    std::vector<std::unique_ptr<const Task>> made;
    made.push_back(translate_task());
    made.push_back(language_model_task());
    made.push_back(classify_task());
    made.push_back(classify_pairs_task());
    made.push_back(tag_task());
    made.push_back(regress_task());
    made.push_back(regress_pairs_task());
    made.push_back(masked_task());
    made.push_back(masked_pairs_task());
    made.push_back(bidirectional_language_model_task());
    made.push_back(word_vectors_task());
    made.push_back(spans_task());
    return made;
  }();
  return all;
}

const Task& task_of_columns(const Signature& signature) {
  for (const auto& task : tasks()) {
    if (fits(*task, signature)) return *task;
  }
  std::vector<std::string> names;
  names.reserve(signature.columns.size());
  for (const ColumnSpec& column : signature.columns) names.push_back(column.name);
  throw ConfigError("train: no task has the columns of this model: {}", fmt::join(names, ", "));
}

const Task& task_of(const RunConfig& config, const Signature& signature) {
  const Task& task = task_of_columns(signature);
  for (const auto& other : tasks()) {
    if (fits(*other, signature) && other->has_text(config.data, Split::kTraining)) return *other;
  }
  for (const auto& other : tasks()) {
    if (other->has_text(config.data, Split::kTraining)) fail_other_data(task, *other);
  }
  throw ConfigError("train: there is no text to train on; give {}", task.flags);
}

RunConfig fitted(const RunConfig& config) {
  const auto has_text = [&config](const ModelConfig& model) {
    const Signature signature = signature_of(model);
    return std::ranges::any_of(tasks(), [&](const auto& task) {
      return fits(*task, signature) && task->has_text(config.data, Split::kTraining);
    });
  };
  if (has_text(config.model)) return config;
  const auto has_pairs = [&has_text](RunConfig found) -> std::optional<RunConfig> {
    const auto of_pairs = model_kind(found.model.kind.name).of_pairs;
    if (of_pairs == nullptr) return std::nullopt;
    found.model.settings = of_pairs(found.model.settings);
    return has_text(found.model) ? std::optional(found) : std::nullopt;
  };
  if (const auto found = has_pairs(config)) return *found;
  // Text alone may have labels in a second column, but is taken for what it is without a model.
  const Task* wanted = nullptr;
  for (const auto& task : tasks()) {
    if (wanted == nullptr && task->has_text(config.data, Split::kTraining)) wanted = task.get();
  }
  const auto fits_data = [wanted](const ModelConfig& model) {
    return wanted != nullptr && fits(*wanted, signature_of(model));
  };
  InnerModel within{config.model.kind.name, config.model.settings};
  for (;;) {
    for (const ModelKind& kind : model_kinds()) {
      if (kind.around == nullptr) continue;
      const auto settings = kind.around(within.kind, within.settings);
      if (settings == nullptr) continue;
      RunConfig found = config;
      found.model = ModelConfig(kind.name);
      found.model.settings = *settings;
      if (fits_data(found.model)) return found;
      if (const auto of_pairs = has_pairs(found)) return *of_pairs;
    }
    const auto inner = model_kind(within.kind).inner;
    if (inner == nullptr) return config;
    within = InnerModel(*inner(within.settings));
    RunConfig found = config;  // a language model of what was built around one
    found.model = ModelConfig(within.kind);
    found.model.settings = within.settings;
    if (fits_data(found.model)) return found;
  }
}

void check_held_out(const DataConfig& data, bool has_other, std::string_view other_setting) {
  if (!(data.held_out >= 0 && data.held_out < 1)) {
    throw ConfigError("train: data.held_out is {}; it must be at least 0 and below 1",
                      data.held_out);
  }
  if (data.held_out > 0 && has_other) {
    throw ConfigError("train: give {} or data.held_out, not both", other_setting);
  }
}

void check_held_out_left(const DataConfig& data, Split split, const std::filesystem::path& file) {
  if (data.held_out == 0) return;
  const bool training = split == Split::kTraining;
  throw DataError("train: data.held_out {} of {} leaves no text for {}; hold out {}", data.held_out,
                  file.string(), training ? "training" : "validation", training ? "less" : "more");
}

void check_weights(const DataConfig& data, size_t corpora) {
  if (data.weights.empty()) return;
  if (data.weights.size() != corpora) {
    throw ConfigError("train: data.weights has {}, but there {} {}; give one for each",
                      counted(data.weights.size(), "weight"), corpora == 1 ? "is" : "are",
                      corpora == 1 ? "1 corpus" : fmt::format("{} corpora", corpora));
  }
  for (const double weight : data.weights) {
    if (weight > 0 && weight <= kMostWeight) continue;
    throw ConfigError("train: data.weights has {}; a weight must be above 0 and at most {}", weight,
                      kMostWeight);
  }
}

double weight_of_corpus(const DataConfig& data, size_t corpus) {
  return corpus < data.weights.size() ? data.weights[corpus] : 1;
}

std::string corpora_text(const TextFiles& files, const Corpus& corpus, std::string_view records) {
  constexpr size_t kMostNamed = 8;
  const std::span<const uint64_t> ends = corpus.parts();
  if (ends.size() < 2 || ends.size() != files.size()) return "";
  const RecordLengths lengths = corpus.lengths();
  double all = 0;
  std::vector<double> of_part(ends.size());
  for (size_t i = 0; i < ends.size(); ++i) {
    const uint64_t begin = i == 0 ? 0 : ends[i - 1];
    const double weight = ends[i] > begin ? lengths.weight(begin) : 1;
    all += of_part[i] = weight * static_cast<double>(ends[i] - begin);
  }
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(ends.size(), kMostNamed); ++i) {
    const uint64_t begin = i == 0 ? 0 : ends[i - 1];
    parts.push_back(fmt::format("{} {} of {} x {} ({:.1f} %)", ends[i] - begin, records,
                                files[i].string(), ends[i] > begin ? lengths.weight(begin) : 1,
                                100 * of_part[i] / all));
  }
  if (ends.size() > kMostNamed) parts.push_back(fmt::format("{} more", ends.size() - kMostNamed));
  return fmt::format("an epoch has {:.0f} {} of {} corpora: {}", all, records, ends.size(),
                     fmt::join(parts, ", "));
}

std::string_view objective_of(const RunConfig& config, const Task& task) {
  const std::string& chosen = config.training.objective;
  return chosen == "auto" ? task.objective : std::string_view(chosen);
}

std::unique_ptr<Objective> make_objective(const RunConfig& config, const Task& task,
                                          const Signature& signature) {
  const ObjectiveKind& kind = objective_kind(objective_of(config, task));
  RunConfig effective = config;
  // What smoothing spreads is weighed as well: most of it would go to the rarest labels.
  const bool weighed = !config.training.class_weights.empty();
  if (!effective.training.label_smoothing) {
    effective.training.label_smoothing = weighed ? 0.0f : task.label_smoothing;
  }
  return kind.make(effective, signature);
}

}  // namespace attend
