// What the parts of `attend evaluate` share.
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/base/limits.h"
#include "attend/data/documents.h"
#include "attend/metrics/perplexity.h"
#include "attend/models/text_model.h"
#include "cli/config_flags.h"
#include "cli/evaluate_metrics.h"
#include "cli/numbers.h"
#include "cli/text_input.h"

namespace attend::cli {

inline constexpr std::string_view kPerplexity = "perplexity", kAccuracy = "accuracy";

// How a language model reads running text. What is not set is as it was in training.
struct TextReading {
  std::optional<size_t> context, stride;
  std::optional<DocumentKind> documents;

  template <typename V>
  void fields(V& v) {
    v("context", context, "language model: tokens read at once; none: as in training",
      limits::kLength);
    v("stride", stride,
      "language model: tokens by which the window moves on; fewer give each token more context; "
      "none: the whole context",
      limits::kLength);
    v("documents", documents,
      "language model: a document is each file, each line, or lines up to a blank one; none: as in "
      "training");
  }
};

struct EvaluateOptions {
  std::vector<std::filesystem::path> adapters;
  std::filesystem::path model, source, target, label, pair, tags, number, hypotheses, alignments,
      gold;
  std::vector<std::filesystem::path> text, references;
  std::vector<std::string> metrics;
  std::string tokenize = "13a", tag_format, scheme = "any";
  bool lowercase = false, grouped = false, json = false, table = false;
  size_t errors = 0;
  Batching batching;
  ConfigFlags search, reading;  // TextReading
  const CLI::App* parser = nullptr;

  bool with_model() const { return !model.empty(); }
  bool chosen(std::string_view name, bool usual) const {
    return metrics.empty() ? usual : std::ranges::count(metrics, name) > 0;
  }
};

// Usage errors: options that would do nothing.
inline void refuse_options(const EvaluateOptions& options, std::initializer_list<const char*> names,
                           const std::string& why) {
  for (const char* name : names) {
    if (options.parser->count(name) > 0) throw CLI::ValidationError(name, why);
  }
}

using Results = std::vector<std::pair<std::string_view, MetricResult>>;

// The metrics, and what was asked for beside them: tables for a person, and parts of the JSON
// object for a program.
struct Evaluation {
  Results results = {};
  std::string tables = {};
  nlohmann::ordered_json parts = nlohmann::ordered_json::object();

  // Tables by class, if they were asked for.
  void add_table(const EvaluateOptions& options, const LabelCounts& labels);
  void add_table(const EvaluateOptions& options, const SpanCounts& spans);
};

// What a model does with text whose right answers are known.
Evaluation evaluate_model(const EvaluateOptions& options);

// Given links against gold ones; and the error rate of every layer and head of a model.
Results evaluate_alignments(const EvaluateOptions& options);
int rank_layers(const EvaluateOptions& options);

// A model that labels texts. Labels that it does not have count as wrong, and are left out of the
// perplexity.
Evaluation evaluate_classifier(const EvaluateOptions& options, const TextModel& model);
// A model that gives each word a tag, and one that gives each text a number.
Evaluation evaluate_tagger(const EvaluateOptions& options, const TextModel& model);
Evaluation evaluate_regressor(const EvaluateOptions& options, const TextModel& model);

// The one file of texts that a model answers. Throws for options that mean nothing for it; `gives`
// is what it gives: "labels".
std::filesystem::path answered_text(const EvaluateOptions& options, std::string_view gives);

// The lines of --text; of --pair, for a model of pairs; and the right answers.
struct AnsweredLines {
  std::vector<std::string> texts, pairs, gold;
};
AnsweredLines answered_lines(const EvaluateOptions& options, const TextModel& model,
                             const std::filesystem::path& gold, std::string_view gives);

// An answer that is wrong. Lines count from 1.
struct Mistake {
  size_t line;
  std::string gold, predicted;
  double badness;  // what they are sorted by, the largest first
  std::string text;
};
// Lists the worst ones, if they were asked for; `what` is what badness is: "probability".
void add_mistakes(const EvaluateOptions& options, std::string_view what,
                  std::vector<Mistake> mistakes, Evaluation& evaluation);

// Throws ConfigError for metrics that were asked for and mean nothing for this model.
void check_metrics(const EvaluateOptions& options, std::span<const std::string_view> possible,
                   std::string_view what);
MetricResult perplexity_result(const LikelihoodStats& stats, std::string_view unit);

// How metrics measure, by the options.
MetricSettings metric_settings(const EvaluateOptions& options);

// Texts by the metrics that were chosen, and one more file of references for them.
Results measure_texts(const EvaluateOptions& options, const EvaluatedTexts& texts);
void add_reference(EvaluatedTexts& texts, const std::filesystem::path& file, size_t lines,
                   const std::filesystem::path& beside);

// Lines for a model that reads one text and writes another. Throws ConfigError where there are
// none.
LinePairs source_pairs(const EvaluateOptions& options);
// Before any work: DataError for a line that is too long for the model.
void check_lengths(const EvaluateOptions& options, const TextModel& model, const LinePairs& pairs);
void check_lengths(const EvaluateOptions& options, const TextModel& model, const ColumnSpec& column,
                   std::span<const std::string> lines, const std::filesystem::path& file);

}  // namespace attend::cli
