// The metrics that `attend evaluate` knows, by name.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attend/metrics/bleu.h"
#include "cli/evaluate_labels.h"

namespace attend::cli {

struct EvaluatedTexts {
  std::vector<std::string> hypotheses;
  std::vector<std::vector<std::string>> references;  // file by file, each with a line a hypothesis
};

struct MetricSettings {
  bool lowercase = false;
  BleuTokens tokens = BleuTokens::k13a;
  TagFormat tags = TagFormat::kNone;
  TagScheme scheme = TagScheme::kAny;
};

struct MetricResult {
  double score = 0;
  std::string detail;              // for a person
  nlohmann::ordered_json figures;  // for a program, beside the score
  int decimals = 2;
};

// What lines are measured as. A metric of texts compares lines that say the same; the others need
// one reference a line.
enum class MetricOf { kTexts, kLabels, kSpans, kNumbers };

struct TextMetric {
  std::string_view name, what;
  MetricOf of;
  bool usual;  // measured unless others are chosen: of tags where a line has them, else of texts
  std::function<MetricResult(const EvaluatedTexts& texts, const MetricSettings& settings)> measure;
};
const std::vector<TextMetric>& text_metrics();

// The lines for metrics of labels, spans and numbers. Throws DataError where a line has several
// references, or none.
LabelLines label_lines(const EvaluatedTexts& texts, const MetricSettings& settings);

// A metric of labels and one of numbers by what was counted.
MetricResult label_result(const LabelMetric& metric, const LabelCounts& counts,
                          std::string_view unit);
MetricResult span_result(const SpanMetric& metric, const SpanCounts& counts);
MetricResult number_result(const NumberMetric& metric, const NumberPairs& pairs);

}  // namespace attend::cli
