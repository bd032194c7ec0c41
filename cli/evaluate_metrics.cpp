#include "cli/evaluate_metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

MetricResult accuracy(const EvaluatedTexts& texts, const MetricSettings& settings) {
  const ErrorStats stats = errors(texts, settings.lowercase, ErrorUnit::kWord);
  const uint64_t right = stats.sequences - stats.wrong_sequences;
  return {sequence_accuracy(stats),
          fmt::format("{} of {} lines", right, stats.sequences),
          {{"right", right}, {"lines", stats.sequences}}};
}

}  // namespace

const std::vector<TextMetric>& text_metrics() {
  static const std::vector<TextMetric> table = {
      {"bleu", "BLEU as sacreBLEU has it", true, bleu},
      {"chrf", "chrF2 as sacreBLEU has it", true, chrf},
      {"chrf++", "chrF2++, with words", false, chrf_words},
      {"error_rate", "edits of words (or phones), in 100", true, word_errors},
      {"character_error_rate", "edits of characters, in 100", false, character_errors},
      {"accuracy", "lines that are right as a whole, in 100", true, accuracy},
  };
  return table;
}

}  // namespace attend::cli
