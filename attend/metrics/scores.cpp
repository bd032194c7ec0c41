#include "attend/metrics/scores.h"

#include "attend/metrics/correlation.h"

namespace attend {
namespace {

template <ClassAverage kAverage>
double label_f1(const Confusion& confusion) {
  return average_score(confusion.classes(), kAverage).f1;
}

template <ClassAverage kAverage>
double span_f1(const SpanCounts& spans) {
  return spans.score(kAverage).f1;
}

// A measure of two rows of numbers as one of their pairs.
template <double (*kMeasure)(std::span<const double>, std::span<const double>)>
double of_pairs(const NumberPairs& pairs) {
  return kMeasure(pairs.predicted, pairs.gold);
}

constexpr LabelMetric kLabelMetrics[] = {
    {"accuracy", "records whose label is right, in 100", true, true, accuracy},
    {"f1_macro", "F1, the mean over the labels", true, true, label_f1<ClassAverage::kMacro>},
    {"f1_micro", "F1 of all labels together, which is the accuracy", true, true,
     label_f1<ClassAverage::kMicro>},
    {"f1_weighted", "F1, the mean over the labels by their records", true, true,
     label_f1<ClassAverage::kWeighted>},
    {"matthews", "the correlation of gold and predicted labels", true, false, matthews_correlation},
};

constexpr SpanMetric kSpanMetrics[] = {
    {"span_f1", "F1 of spans whose ends and type are right", true, true,
     span_f1<ClassAverage::kMicro>},
    {"span_f1_macro", "F1 of spans, the mean over their types", true, true,
     span_f1<ClassAverage::kMacro>},
};

constexpr NumberMetric kNumberMetrics[] = {
    {"pearson", "the correlation of gold and predicted numbers", true, false,
     of_pairs<pearson_correlation>},
    {"spearman", "the correlation of their ranks", true, false, of_pairs<spearman_correlation>},
    {"mean_squared_error", "the mean of squared differences", false, false,
     of_pairs<mean_squared_error>},
    {"mean_absolute_error", "the mean of absolute differences", false, false,
     of_pairs<mean_absolute_error>},
};

}  // namespace

std::span<const LabelMetric> label_metrics() { return kLabelMetrics; }
std::span<const SpanMetric> span_metrics() { return kSpanMetrics; }
std::span<const NumberMetric> number_metrics() { return kNumberMetrics; }

}  // namespace attend
