#include "cli/evaluate_metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/base/counted.h"
#include "attend/base/error.h"
#include "attend/metrics/chrf.h"
#include "attend/metrics/error_rate.h"
#include "attend/text/lower_case.h"

namespace attend::cli {
namespace {

// References of a line. As in sacreBLEU, an empty one is none where there are others: lines may
// have different numbers of them.
std::vector<std::string_view> references_of(const EvaluatedTexts& texts, size_t line) {
  std::vector<std::string_view> found;
  for (const auto& file : texts.references) {
    if (!file[line].empty()) found.push_back(file[line]);
  }
  if (found.empty()) found.push_back(texts.references.front()[line]);
  return found;
}

template <typename Stats, typename Measure>
Stats sum_lines(const EvaluatedTexts& texts, const Measure& measure) {
  Stats sum;
  for (size_t i = 0; i < texts.hypotheses.size(); ++i) {
    sum += measure(texts.hypotheses[i], references_of(texts, i));
  }
  return sum;
}

MetricResult bleu(const EvaluatedTexts& texts, const MetricSettings& settings) {
  const BleuOptions options{.tokens = settings.tokens, .lower_case = settings.lowercase};
  const auto stats = sum_lines<BleuStats>(texts, [&](const auto& hypothesis, const auto& refs) {
    return bleu_stats(hypothesis, refs, options);
  });
  const BleuScore score = bleu_score(stats, options);
  const std::string signature = bleu_signature(stats, options);
  return {score.score,
          fmt::format("{:.1f} BP {:.3f} lengths {}:{}  {}", fmt::join(score.precisions, "/"),
                      score.brevity_penalty, score.hypothesis_length, score.reference_length,
                      signature),
          {{"precisions", score.precisions},
           {"brevity_penalty", score.brevity_penalty},
           {"hypothesis_length", score.hypothesis_length},
           {"reference_length", score.reference_length},
           {"signature", signature}}};
}

MetricResult chrf_with(const EvaluatedTexts& texts, const ChrfOptions& options) {
  const auto stats = sum_lines<ChrfStats>(texts, [&](const auto& hypothesis, const auto& refs) {
    return chrf_stats(hypothesis, refs, options);
  });
  const std::string signature = chrf_signature(stats, options);
  return {chrf_score(stats, options), signature, {{"signature", signature}}};
}

MetricResult chrf(const EvaluatedTexts& texts, const MetricSettings& settings) {
  return chrf_with(texts, {.lower_case = settings.lowercase});
}

MetricResult chrf_words(const EvaluatedTexts& texts, const MetricSettings& settings) {
  return chrf_with(texts, {.word_order = 2, .lower_case = settings.lowercase});
}

ErrorStats errors(const EvaluatedTexts& texts, bool lowercase, ErrorUnit unit) {
  return sum_lines<ErrorStats>(texts, [&](const std::string& hypothesis, const auto& refs) {
    if (!lowercase) return error_stats(hypothesis, refs, unit);
    std::vector<std::string> lowered(refs.size());
    std::ranges::transform(refs, lowered.begin(), lower_case);
    const std::vector<std::string_view> views(lowered.begin(), lowered.end());
    return error_stats(lower_case(hypothesis), views, unit);
  });
}

MetricResult rate(const ErrorStats& stats, std::string_view unit) {
  return {error_rate(stats),
          fmt::format("{} edits in {} {}", stats.edits, stats.reference_length, unit),
          {{"edits", stats.edits}, {"reference_length", stats.reference_length}}};
}

MetricResult word_errors(const EvaluatedTexts& texts, const MetricSettings& settings) {
  return rate(errors(texts, settings.lowercase, ErrorUnit::kWord), "words");
}

MetricResult character_errors(const EvaluatedTexts& texts, const MetricSettings& settings) {
  return rate(errors(texts, settings.lowercase, ErrorUnit::kCharacter), "characters");
}

MetricResult sequence_accuracy_result(const EvaluatedTexts& texts, const MetricSettings& settings) {
  const ErrorStats stats = errors(texts, settings.lowercase, ErrorUnit::kWord);
  const uint64_t right = stats.sequences - stats.wrong_sequences;
  return {sequence_accuracy(stats),
          fmt::format("{} of {} lines", right, stats.sequences),
          {{"right", right}, {"lines", stats.sequences}}};
}

// The metrics of labels, tags and numbers (attend/metrics/scores.h), on lines.
void add_label_metrics(std::vector<TextMetric>& table) {
  for (const LabelMetric& metric : label_metrics()) {
    const bool usual = metric.name == "accuracy" || metric.name == "f1_macro";
    table.push_back({metric.name, metric.what, MetricOf::kLabels, usual,
                     [&metric](const EvaluatedTexts& texts, const MetricSettings& settings) {
                       const bool tags = settings.tags != TagFormat::kNone;
                       return label_result(metric, count_labels(label_lines(texts, settings)),
                                           tags ? "tag" : "line");
                     }});
  }
  for (const SpanMetric& metric : span_metrics()) {
    table.push_back({metric.name, metric.what, MetricOf::kSpans, metric.name == "span_f1",
                     [&metric](const EvaluatedTexts& texts, const MetricSettings& settings) {
                       LabelLines lines = label_lines(texts, settings);
                       if (lines.format == TagFormat::kNone) lines.format = TagFormat::kLines;
                       return span_result(metric, count_spans(lines, settings.scheme));
                     }});
  }
  for (const NumberMetric& metric : number_metrics()) {
    table.push_back({metric.name, metric.what, MetricOf::kNumbers, false,
                     [&metric](const EvaluatedTexts& texts, const MetricSettings& settings) {
                       return number_result(metric, number_pairs(label_lines(texts, settings)));
                     }});
  }
}

nlohmann::ordered_json averages_json(std::span<const ClassCounts> classes, ClassAverage average) {
  const ClassScore score = average_score(classes, average);
  return {{"precision", score.precision}, {"recall", score.recall}};
}

ClassAverage average_of(std::string_view metric) {
  return metric.ends_with("_macro")      ? ClassAverage::kMacro
         : metric.ends_with("_weighted") ? ClassAverage::kWeighted
                                         : ClassAverage::kMicro;
}

}  // namespace

LabelLines label_lines(const EvaluatedTexts& texts, const MetricSettings& settings) {
  if (texts.references.size() == 1) {
    return {texts.references.front(), texts.hypotheses, settings.tags};
  }
  throw DataError(
      "evaluate: labels, tags and numbers have one right answer, but there are {} references; give "
      "one, or choose a metric of texts",
      texts.references.size());
}

MetricResult label_result(const LabelMetric& metric, const LabelCounts& counts,
                          std::string_view unit) {
  const Confusion& confusion = counts.confusion;
  MetricResult result{.score = metric.measure(confusion), .decimals = metric.in_percent ? 2 : 4};
  if (metric.name == "accuracy") {
    result.detail =
        fmt::format("{} of {}", confusion.correct(), counted(confusion.records(), unit));
    result.figures = {{"right", confusion.correct()},
                      {fmt::format("{}s", unit), confusion.records()}};
    return result;
  }
  result.detail = fmt::format("{}, {}", counted(counts.names.size(), "label"),
                              counted(confusion.records(), unit));
  result.figures = {{"labels", counts.names.size()},
                    {fmt::format("{}s", unit), confusion.records()}};
  if (!metric.name.starts_with("f1_")) return result;
  result.figures.update(averages_json(confusion.classes(), average_of(metric.name)));
  return result;
}

MetricResult span_result(const SpanMetric& metric, const SpanCounts& counts) {
  const ClassAverage average = average_of(metric.name);
  const ClassScore score = counts.score(average);
  ClassCounts all;
  for (const auto& [type, one] : counts.types) all += one;
  return {.score = metric.measure(counts),
          .detail = fmt::format("precision {:.2f} recall {:.2f}, {}, {} predicted", score.precision,
                                score.recall, counted(all.gold, "span"), all.predicted),
          .figures = {{"precision", score.precision},
                      {"recall", score.recall},
                      {"gold", all.gold},
                      {"predicted", all.predicted},
                      {"correct", all.correct}}};
}

MetricResult number_result(const NumberMetric& metric, const NumberPairs& pairs) {
  return {.score = metric.measure(pairs),
          .detail = counted(pairs.gold.size(), "number"),
          .figures = {{"numbers", pairs.gold.size()}},
          .decimals = 4};
}

const std::vector<TextMetric>& text_metrics() {
  static const std::vector<TextMetric> table = [] {
    std::vector<TextMetric> all = {
        {"bleu", "BLEU as sacreBLEU has it", MetricOf::kTexts, true, bleu},
        {"chrf", "chrF2 as sacreBLEU has it", MetricOf::kTexts, true, chrf},
        {"chrf++", "chrF2++, with words", MetricOf::kTexts, false, chrf_words},
        {"error_rate", "edits of words (or phones), in 100", MetricOf::kTexts, true, word_errors},
        {"character_error_rate", "edits of characters, in 100", MetricOf::kTexts, false,
         character_errors},
        {"accuracy", "lines that are right as a whole, in 100", MetricOf::kTexts, true,
         sequence_accuracy_result},
    };
    add_label_metrics(all);
    return all;
  }();
  return table;
}

}  // namespace attend::cli
