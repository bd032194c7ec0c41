// The metrics of labels, of spans and of numbers by name: one list for `evaluate`, and for choosing
// the best model in training.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "attend/metrics/classes.h"
#include "attend/metrics/tags.h"

namespace attend {

// What a model predicted for each record, beside what is right.
struct NumberPairs {
  std::vector<double> predicted, gold;
};

// A metric of what was counted of predictions.
template <typename Counts>
struct PredictionMetric {
  std::string_view name, what;
  bool higher_is_better;
  bool in_percent;  // 0 to 100; otherwise a coefficient or an error
  double (*measure)(const Counts& counts);
};
using LabelMetric = PredictionMetric<Confusion>;
using SpanMetric = PredictionMetric<SpanCounts>;
using NumberMetric = PredictionMetric<NumberPairs>;

// All of them.
std::span<const LabelMetric> label_metrics();
std::span<const SpanMetric> span_metrics();
std::span<const NumberMetric> number_metrics();

}  // namespace attend
