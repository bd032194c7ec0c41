// The metrics that `attend evaluate` knows, by name.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attend/metrics/bleu.h"

namespace attend::cli {

struct EvaluatedTexts {
  std::vector<std::string> hypotheses;
  std::vector<std::vector<std::string>> references;  // file by file, each with a line a hypothesis
};

struct MetricSettings {
  bool lowercase = false;
  BleuTokens tokens = BleuTokens::k13a;
};

struct MetricResult {
  double score = 0;
  std::string detail;              // for a person
  nlohmann::ordered_json figures;  // for a program, beside the score
};

struct TextMetric {
  std::string_view name, what;
  bool usual;  // measured unless others are chosen
  MetricResult (*measure)(const EvaluatedTexts& texts, const MetricSettings& settings);
};
const std::vector<TextMetric>& text_metrics();

}  // namespace attend::cli
