// `attend evaluate` of a model that gives each word a tag, or each text a number.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attend/base/counted.h"
#include "attend/base/error.h"
#include "attend/data/words.h"
#include "attend/decode/labels.h"
#include "cli/evaluate_parts.h"

namespace attend::cli {
namespace {

// Texts of columns as lines: the words are the first column, and the tags the last.
LinePairs column_texts(const std::filesystem::path& file) {
  LinePairs texts;
  bool open = false;
  for (const std::string& line : read_lines(file)) {
    const std::vector<std::string_view> columns = words_of(line);
    if (!columns.empty() && !open) {
      texts.sources.emplace_back();
      texts.targets.emplace_back();
    }
    open = !columns.empty();
    if (!open) continue;
    const char* const space = texts.sources.back().empty() ? "" : " ";
    texts.sources.back() += fmt::format("{}{}", space, columns.front());
    texts.targets.back() += fmt::format("{}{}", space, columns.back());
  }
  return texts;
}

LinePairs tagged_texts(const EvaluateOptions& options) {
  const std::filesystem::path text = answered_text(options, "tags");
  if (!options.pair.empty()) {
    throw ConfigError("evaluate: the model reads one text; leave out --pair");
  }
  if (options.tag_format == "conll" && options.tags.empty()) return column_texts(text);
  LinePairs lines =
      read_pairs(text, options.tags, {.first = "text", .second = "tag", .option = "--tags"});
  for (size_t i = 0; i < lines.sources.size(); ++i) {
    const size_t words = words_of(lines.sources[i]).size(),
                 tags = words_of(lines.targets[i]).size();
    if (words == tags) continue;
    throw DataError("{}: {} for {}; give one for each word, with spaces between them",
                    place_of_line(options.tags.empty() ? text : options.tags, i + 1),
                    counted(tags, "tag"), counted(words, "word"));
  }
  return lines;
}

}  // namespace

Evaluation evaluate_tagger(const EvaluateOptions& options, const TextModel& model) {
  std::vector<std::string_view> possible;
  for (const LabelMetric& metric : label_metrics()) possible.push_back(metric.name);
  for (const SpanMetric& metric : span_metrics()) possible.push_back(metric.name);
  check_metrics(options, possible, "a model that gives tags");
  const LinePairs lines = tagged_texts(options);
  check_lengths(options, model, *model.read(), lines.sources,
                options.text.empty() ? options.source : options.text.front());
  const auto best = best_tags(model, lines.sources, options.batching.batch_tokens);
  EvaluatedTexts texts{.hypotheses = {}, .references = {lines.targets}};
  std::vector<Mistake> mistakes;
  for (size_t i = 0; i < best.size(); ++i) {
    const auto words = words_of(lines.sources[i]), gold = words_of(lines.targets[i]);
    std::vector<std::string> tags;
    for (size_t w = 0; w < best[i].size(); ++w) {
      const RankedTag& tag = best[i][w].best;
      tags.push_back(tag_text(model, tag.number));
      if (tags.back() == gold[w]) continue;
      mistakes.push_back({i + 1, std::string(gold[w]), tags.back(), tag.probability,
                          fmt::format("{}: {}", words[w], lines.sources[i])});
    }
    texts.hypotheses.push_back(fmt::format("{}", fmt::join(tags, " ")));
  }
  EvaluateOptions of_lines = options;
  of_lines.tag_format = "lines";
  Evaluation found{.results = measure_texts(of_lines, texts)};
  const MetricSettings settings = metric_settings(of_lines);
  const LabelLines labels = label_lines(texts, settings);
  found.add_table(options, count_labels(labels));
  if (are_span_tags(labels)) found.add_table(options, count_spans(labels, settings.scheme));
  add_mistakes(options, "probability", std::move(mistakes), found);
  return found;
}

Evaluation evaluate_regressor(const EvaluateOptions& options, const TextModel& model) {
  std::vector<std::string_view> possible;
  for (const NumberMetric& metric : number_metrics()) possible.push_back(metric.name);
  check_metrics(options, possible, "a model that gives numbers");
  refuse_options(options, {"--table"}, "goes with labels and tags; the model gives numbers");
  const AnsweredLines lines = answered_lines(
      options, model, options.number.empty() ? options.target : options.number, "numbers");
  NumberPairs pairs = number_pairs({.gold = lines.gold, .predicted = lines.gold});
  pairs.predicted = predicted_numbers(model, {.texts = lines.texts, .pairs = lines.pairs},
                                      options.batching.batch_tokens);
  std::vector<Mistake> mistakes;
  for (size_t i = 0; i < lines.gold.size(); ++i) {
    mistakes.push_back({i + 1, fmt::format("{:.6g}", pairs.gold[i]),
                        fmt::format("{:.6g}", pairs.predicted[i]),
                        std::abs(pairs.predicted[i] - pairs.gold[i]), lines.texts[i]});
  }
  Evaluation found;
  for (const NumberMetric& metric : number_metrics()) {
    if (!options.chosen(metric.name, true)) continue;
    found.results.emplace_back(metric.name, number_result(metric, pairs));
  }
  add_mistakes(options, "difference", std::move(mistakes), found);
  return found;
}

}  // namespace attend::cli
