#include "attend/train/run_config.h"

#include <limits>

#include "attend/base/names.h"
#include "attend/base/special_tokens.h"
#include "attend/base/storage.h"
#include "attend/decode/line_limit.h"
#include "attend/io/config.h"
#include "attend/nn/init.h"

namespace attend {
namespace {

struct MetricEntry {
  Metric value;
  std::string_view name;
  bool higher_is_better;
};
constexpr MetricEntry kMetrics[] = {{Metric::kLoss, "loss", false},
                                    {Metric::kBleu, "bleu", true},
                                    {Metric::kChrf, "chrf", true},
                                    {Metric::kAccuracy, "accuracy", true},
                                    {Metric::kErrorRate, "error_rate", false}};

void check_files(const RunConfig& config) {
  DataConfig data = config.data;
  if (config.out.empty()) throw ConfigError("train: no model directory; say --out DIRECTORY");
  if (data.source.empty()) throw ConfigError("train: no text; say --source FILE --target FILE");
  for (const Field& field : fields_of(data).fields) {
    const auto given = field.get();
    if (field.type->kind != FieldKind::kPath || !given || given->front() != "-") continue;
    throw ConfigError(
        "train: data.{} is standard input, but text is read more than once; give a file",
        field.path);
  }
  const bool columns = data.target.empty() && data.valid_target.empty();
  if (data.valid_source.empty() != data.valid_target.empty() && !columns) {
    throw ConfigError("train: validation needs both data.valid_source and data.valid_target");
  }
  if (config.validation.metric != Metric::kLoss && data.valid_source.empty()) {
    throw ConfigError(
        "train: validation.metric {} needs text to validate on; say --valid-source FILE and "
        "--valid-target FILE",
        name_of(config.validation.metric));
  }
}

void check_shares(const RunConfig& config) {
  const TrainingConfig& training = config.training;
  const auto below_one = [](const char* name, double value) {
    if (!(value >= 0 && value < 1)) {
      throw ConfigError("train: {} is {}, not within [0, 1)", name, value);
    }
  };
  below_one("training.label_smoothing", double{training.label_smoothing});
  below_one("training.average", training.average);
  if (!(training.coverage_loss >= 0)) {
    throw ConfigError("train: training.coverage_loss is {}; 0 or more", training.coverage_loss);
  }
  const ModelConfig& model = config.model;
  if (training.coverage_loss > 0 && !(model.kind == ModelKind::kRnn && model.rnn.coverage)) {
    throw ConfigError(
        "train: training.coverage_loss needs a model that attends with coverage; set "
        "model.rnn.coverage");
  }
}

// A setting of a kind of model that is not trained would change nothing.
void check_settings_in_use(const ModelConfig& model) {
  const ModelConfig from =
      model.preset.empty() ? ModelConfig() : ModelConfig::of_preset(model.preset);
  if (!model.preset.empty() && from.kind != model.kind) {
    throw ConfigError("train: preset {} is of kind {}, but model.kind is {}; say --preset NAME",
                      model.preset, name_of(from.kind), name_of(model.kind));
  }
  for (const Difference& d : differences(from, model)) {
    const std::string section = d.path.substr(0, d.path.find('.'));
    const bool in_use =
        section == d.path || section == name_of(model.kind) ||
        (model.kind == ModelKind::kLabel && section == name_of(model.label.encoder));
    if (in_use || d.path.ends_with("_vocabulary")) continue;
    throw ConfigError("train: model.{} = {} would change nothing: the model is of kind {}{}",
                      d.path, d.after, name_of(model.kind),
                      model.preset.empty() ? "" : ", of preset " + model.preset);
  }
}

// Whether weights and gradients, the least that training takes, are more than the machine has.
void check_memory(Seq2Seq& model) {
  const size_t count = parameter_count(model), bytes = 2 * sizeof(float) * count;
  if (bytes <= machine_memory()) return;
  throw MemoryError(
      "train: the model has {} parameters or more; its weights and gradients alone take {}, but "
      "this machine has {}; train a smaller model",
      count, memory_text(bytes), memory_text(machine_memory()));
}

// Makes one with the smallest vocabulary and without memory.
void check_model(ModelConfig model) {
  for (const Field& field : fields_of(model).fields) {
    const auto given = field.get();
    if (!field.path.ends_with("dropout") || !given) continue;
    const std::string chance = given->front();
    if (const double value = std::stod(chance); !(value >= 0 && value < 1)) {
      throw ConfigError("train: model.{} is {}, not within [0, 1)", field.path, chance);
    }
  }
  model.set_vocabularies(kSpecialTokens + 1, kSpecialTokens + 1);
  const ShapesOnly no_memory;
  Rng rng(0);
  check_memory(*make_model(model, rng));
}

// A token needs a place beside its end, and beside a start that is put before it.
void check_places(const ModelConfig& model) {
  const std::optional<size_t> places = learned_positions(model);
  const bool label = model.kind == ModelKind::kLabel;
  const size_t least = label && model.label.pooling == LabelPooling::kFirst ? 3 : 2;
  if (!places || *places >= least) return;
  throw ConfigError("train: model.{}.max_length is {}, where a line of one token takes {}",
                    label ? name_of(model.label.encoder) : name_of(model.kind), *places, least);
}

}  // namespace

std::string_view name_of(Metric metric) { return name_from_value(kMetrics, metric); }

bool better(Metric metric, double score, double than) {
  for (const MetricEntry& entry : kMetrics) {
    if (entry.value == metric) return entry.higher_is_better ? score > than : score < than;
  }
  return false;
}

void RunConfig::check() const {
  check_files(*this);
  check_ranges(*this, "train");
  check_shares(*this);
  check_settings_in_use(model);
  check_model(model);
  check_places(model);
  optimizer.check();
  if (!(optimizer.rate > 0)) {
    throw ConfigError("train: optimizer.rate is {}; it is above 0", optimizer.rate);
  }
  schedule.check();
  if (validation.metric != Metric::kLoss) search.check(std::numeric_limits<size_t>::max());
}

}  // namespace attend
