#include "attend/train/run_config.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "attend/base/printable.h"
#include "attend/base/storage.h"
#include "attend/io/config.h"
#include "attend/metrics/scores.h"
#include "attend/nn/init.h"
#include "attend/train/class_weights.h"
#include "attend/train/parameter_groups.h"
#include "attend/train/task.h"

namespace attend {
namespace {

// In the order of Metric.
constexpr MetricEntry kNamedMetrics[] = {
    {"loss", false, false}, {"bleu"}, {"chrf"}, {"accuracy"}, {"error_rate", false}};

constexpr Named<TextRelation> kRelations[] = {{TextRelation::kNextSentence, "next_sentence"},
                                              {TextRelation::kSentenceOrder, "sentence_order"}};

void check_training(const TrainingConfig& training) {
  const auto below_one = [](const char* name, double value) {
    if (!(value >= 0 && value < 1)) {
      throw ConfigError("train: {} is {}; it must be at least 0 and below 1", name, value);
    }
  };
  below_one("training.label_smoothing", double{training.label_smoothing.value_or(0.0f)});
  below_one("training.average", training.average);
  if (!(training.coverage_loss >= 0)) {
    throw ConfigError("train: training.coverage_loss is {}; it must be 0 or more",
                      training.coverage_loss);
  }
  if (!(training.layer_decay > 0 && training.layer_decay <= 1)) {
    throw ConfigError("train: training.layer_decay is {}; it must be above 0 and at most 1",
                      training.layer_decay);
  }
  check_class_weights(training.class_weights);
  rate_patterns(training.rates);
  unfreezing_of(training.unfreeze);
  if (!std::has_single_bit(training.shards)) {
    throw ConfigError("train: training.shards is {}; it must be a power of two, such as {}",
                      training.shards, std::bit_ceil(training.shards));
  }
  if (training.accumulation != 1) {
    throw ConfigError("train: training.accumulation is now training.shards");
  }
}

void check_preset(const ModelConfig& model) {
  if (model.preset.empty()) return;
  const ModelConfig from = ModelConfig::of_preset(model.preset);
  if (from.kind == model.kind) return;
  throw ConfigError("train: preset {} is of kind {}, but model.kind is {}; use --preset NAME",
                    model.preset, from.kind.name, model.kind.name);
}

void check_dropout(ModelConfig model) {
  for (const Field& field : fields_of(model).fields) {
    const auto given = field.get();
    if (!field.path.ends_with("dropout") || !given) continue;
    const std::string chance = given->front();
    if (const double value = std::stod(chance); !(value >= 0 && value < 1)) {
      throw ConfigError("train: model.{} is {}; it must be at least 0 and below 1", field.path,
                        chance);
    }
  }
}

// With the smallest vocabularies, and without memory.
std::unique_ptr<Model> smallest_model(ModelConfig config) {
  constexpr std::string_view kSuffix = "_vocabulary";
  ModelConfig::Vocabularies sizes;
  for (const Field& field : fields_of(config.settings).fields) {
    if (!field.path.ends_with(kSuffix)) continue;
    sizes[field.path.substr(0, field.path.size() - kSuffix.size())] = kSpecialTokens + 1;
  }
  config.set_vocabularies(sizes);
  const ShapesOnly no_memory;
  Rng rng(0);
  return make_model(config, rng);
}

// Whether weights and gradients, the least that training takes, are more than the machine has.
void check_memory(Model& model) {
  const size_t count = parameter_count(model), bytes = 2 * sizeof(float) * count;
  if (bytes <= machine_memory()) return;
  throw MemoryError(
      "train: the model has at least {} parameters; its weights and gradients alone take {}, but "
      "this machine has {}; train a smaller model",
      count, memory_text(bytes), memory_text(machine_memory()));
}

// One token needs a position beside its frame.
void check_positions(const Signature& signature) {
  for (const ColumnSpec& column : signature.columns) {
    if (column.longest().value_or(1) > 0) continue;
    throw ConfigError("train: the model has {} positions for its {}, but one token takes {}",
                      *column.positions, column.name,
                      1 + (column.written ? 1 : column.framing.extra()));
  }
}

// A setting that a task does not use is a mistake.
void check_data(const RunConfig& config, const Task& task) {
  constexpr std::string_view kPrefix = "data.";
  for (const Difference& d : differences(RunConfig(), config)) {
    if (!d.path.starts_with(kPrefix)) continue;
    const std::string_view name = std::string_view(d.path).substr(kPrefix.size());
    if (std::ranges::find(task.settings, name) != task.settings.end()) continue;
    throw ConfigError("train: {} is {}, but the task {} does not use it; leave it out", d.path,
                      d.after, task.name);
  }
}

void check_task(const RunConfig& config, const Signature& signature) {
  const Task& task = task_of(config, signature);
  check_data(config, task);
  task.check(config, signature);
  const Metric metric = config.validation.metric;
  if (std::ranges::find(task.metrics, metric) == task.metrics.end()) {
    std::vector<std::string_view> names;
    for (const Metric known : task.metrics) names.push_back(name_of(known));
    throw ConfigError("train: validation.metric {} does not fit the task {}; choose {}",
                      name_of(metric), task.name, fmt::join(names, ", "));
  }
  if (metric != Metric::kLoss && !task.has_text(config.data, Split::kValidation)) {
    throw ConfigError("train: validation.metric {} needs text to validate on; give {}",
                      name_of(metric), task.valid_flags);
  }
  make_objective(config, task, signature);
  if (signature.joined && !config.vocabulary.one()) {
    throw ConfigError(
        "train: the model reads {} as one sequence, which has one vocabulary; leave out "
        "vocabulary.joint and vocabulary.target_kind",
        task.column_names());
  }
}

}  // namespace

std::string_view name_of(TextRelation relation) { return name_from_value(kRelations, relation); }

void MaskingConfig::check() const {
  if (!(share > 0 && share <= 1)) {
    throw ConfigError("train: masking.share is {}; it must be above 0 and at most 1", share);
  }
  if (!(masked >= 0 && random >= 0 && masked + random <= 1)) {
    throw ConfigError(
        "train: masking.masked is {} and masking.random {}; both are shares, and together at most "
        "1",
        masked, random);
  }
}

void SpansConfig::check() const {
  if (!(share > 0 && share <= 0.5)) {
    throw ConfigError("train: spans.share is {}; it must be above 0 and at most 0.5", share);
  }
  if (!(length >= 1 && length <= 1000)) {
    throw ConfigError("train: spans.length is {}; it must be at least 1 and at most 1000", length);
  }
}

std::span<const MetricEntry> metrics() {
  static const std::vector<MetricEntry> all = [] {
    std::vector<MetricEntry> made(std::begin(kNamedMetrics), std::end(kNamedMetrics));
    const auto add = [&made](const auto& scores) {
      for (const auto& score : scores) {
        if (std::ranges::find(made, score.name, &MetricEntry::name) != made.end()) continue;
        made.push_back({score.name, score.higher_is_better, score.in_percent});
      }
    };
    add(label_metrics());
    add(span_metrics());
    add(number_metrics());
    return made;
  }();
  return all;
}

Metric metric_named(std::string_view name) {
  const auto found = std::ranges::find(metrics(), name, &MetricEntry::name);
  if (found != metrics().end()) return static_cast<Metric>(found - metrics().begin());
  throw ConfigError("unknown metric '{}'", shown_name(name));
}

std::string_view name_of(Metric metric) {
  const auto number = static_cast<size_t>(metric);
  return number < metrics().size() ? metrics()[number].name : "unknown";
}

bool better(Metric metric, double score, double than) {
  return metrics()[static_cast<size_t>(metric)].higher_is_better ? score > than : score < than;
}

void RunConfig::check_files() const {
  if (out.empty()) throw ConfigError("train: no model directory; give --out DIRECTORY");
  DataConfig copy = data;
  for (const Field& field : fields_of(copy).fields) {
    const auto given = field.get();
    if (field.type->kind != FieldKind::kPath || !given) continue;
    if (std::ranges::find(*given, "-") == given->end()) continue;
    throw ConfigError(
        "train: data.{} is standard input, but text is read more than once; give a file",
        field.path);
  }
}

void RunConfig::check() const {
  check_files();
  check_ranges(*this, "train");
  check_training(training);
  if (init_from.empty() && training.reinitialize > 0) {
    throw ConfigError(
        "train: training.reinitialize is {}, but all weights are new without init_from; leave it "
        "out",
        training.reinitialize);
  }
  if (lora.rank > 0) lora.check();
  if (lora.rank > 0 && init_from.empty()) {
    throw ConfigError(
        "train: lora.rank is {}, but an adapter changes a model that was trained; give it by "
        "init_from, or leave out lora",
        lora.rank);
  }
  check_preset(model);
  check_dropout(model);
  const std::unique_ptr<Model> smallest = smallest_model(fitted(*this).model);
  const Signature signature = smallest->signature();
  check_task(*this, signature);
  check_memory(*smallest);
  check_positions(signature);
  optimizer.check();
  if (!(optimizer.rate > 0)) {
    throw ConfigError("train: optimizer.rate is {}; it must be above 0", optimizer.rate);
  }
  schedule.check();
}

Signature signature_of(const ModelConfig& config) { return smallest_model(config)->signature(); }

}  // namespace attend
