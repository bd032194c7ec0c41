#include "attend/train/run_config.h"

#include "attend/base/names.h"

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

}  // namespace

Metric metric_from_name(std::string_view name) { return value_from_name(kMetrics, "metric", name); }

std::string_view name_of(Metric metric) { return name_from_value(kMetrics, metric); }

bool better(Metric metric, double score, double than) {
  for (const MetricEntry& entry : kMetrics) {
    if (entry.value == metric) return entry.higher_is_better ? score > than : score < than;
  }
  return false;
}

void RunConfig::check() const {
  if (out.empty()) throw ConfigError("train: no model directory; say --out DIRECTORY");
  if (data.source.empty()) {
    throw ConfigError("train: no text; say --data.source FILE and --data.target FILE");
  }
  if (data.valid_source.empty() != data.valid_target.empty() && !data.target.empty()) {
    throw ConfigError("train: validation needs both data.valid_source and data.valid_target");
  }
  if (training.steps < 1 || training.accumulation < 1) {
    throw ConfigError("train: {} steps of {} batches; both are at least 1", training.steps,
                      training.accumulation);
  }
  if (training.coverage_loss > 0 && !(model.kind == ModelKind::kRnn && model.rnn.coverage)) {
    throw ConfigError(
        "train: training.coverage_loss needs a model that attends with coverage; set "
        "model.rnn.coverage");
  }
  if (training.report_every < 1 || training.save_every < 1 || validation.every < 1) {
    throw ConfigError(
        "train: report_every {}, save_every {} and validation.every {} count steps, "
        "from 1",
        training.report_every, training.save_every, validation.every);
  }
}

}  // namespace attend
