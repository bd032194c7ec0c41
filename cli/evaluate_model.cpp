// `attend evaluate MODEL`: what a model writes, or how it labels, against what is right.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/base/counted.h"
#include "attend/base/error.h"
#include "attend/data/reference_texts.h"
#include "attend/decode/labels.h"
#include "attend/decode/score.h"
#include "attend/decode/text_likelihood.h"
#include "attend/decode/translator.h"
#include "attend/metrics/perplexity.h"
#include "attend/models/adapter.h"
#include "attend/train/task.h"
#include "cli/adapters.h"
#include "cli/evaluate_parts.h"
#include "cli/search_flags.h"

namespace attend::cli {
namespace {

MetricResult measure_perplexity(const TextModel& model, std::span<const std::string> sources,
                                std::span<const std::string> targets, size_t batch) {
  LikelihoodStats stats;
  for (const ScoredText& text : score_text(model, sources, targets, batch)) {
    stats += {text.scored.total, text.scored.log_probabilities.size()};
  }
  return perplexity_result(stats, "token");
}

// File by file, with empty lines where a source has fewer references than others.
void add_references(EvaluatedTexts& texts, const ReferenceTexts& right) {
  size_t most = 0;
  for (const auto& targets : right.targets) most = std::max(most, targets.size());
  for (size_t n = 0; n < most; ++n) {
    auto& file = texts.references.emplace_back();
    for (const auto& targets : right.targets) file.push_back(n < targets.size() ? targets[n] : "");
  }
}

Results evaluate_generator(const EvaluateOptions& options, const TextModel& model) {
  TranslatorConfig config{.batch_tokens = options.batching.batch_tokens};
  options.search.apply(config.search);
  const LinePairs pairs = source_pairs(options);
  refuse_options(options, {"--label"}, "goes with a model that gives labels; use --target");
  check_lengths(options, model, pairs);
  EvaluatedTexts texts;
  for (const auto& file : options.references) {
    add_reference(texts, file, pairs.sources.size(), options.source);
  }
  const ReferenceTexts right = reference_texts(pairs.sources, pairs.targets, options.grouped);
  add_references(texts, right);

  Results results;
  const bool translates = std::ranges::any_of(
      text_metrics(), [&](const TextMetric& m) { return options.chosen(m.name, m.usual); });
  if (translates) {
    const Translator translate({model}, config);
    for (const Translation& t : translate(right.sources)) texts.hypotheses.push_back(t.texts[0]);
    results = measure_texts(options, texts);
  }
  if (options.chosen(kPerplexity, true)) {
    results.emplace_back(kPerplexity, measure_perplexity(model, pairs.sources, pairs.targets,
                                                         options.batching.batch_tokens));
  }
  return results;
}

// A model that reads nothing but what it writes: documents, through a window that slides.
Results evaluate_language_model(const EvaluateOptions& options, const TextModel& model) {
  static constexpr std::string_view kMetrics[] = {kPerplexity};
  check_metrics(options, kMetrics, "a model that continues a text");
  if (options.text.empty()) {
    throw ConfigError("evaluate: the model continues a text; give --text FILE");
  }
  const char* const why =
      "does not go with a language model, of which the perplexity of --text is measured and "
      "nothing "
      "is written";
  refuse_options(options, {"--label", "--target", "--references", "--grouped", "--lowercase"}, why);
  refuse_options(options, {"--tokenize", "--longest-line"}, why);
  refuse_search_flags(options.search, why);
  TextReading reading;
  options.reading.apply(reading);
  const RunConfig trained = trained_config({options.model});
  const size_t context = reading.context.value_or(context_of(trained, model.model->signature()));
  const size_t stride = reading.stride.value_or(context);
  const TextLikelihood text = text_likelihood(
      model,
      {.files = options.text, .documents = reading.documents.value_or(trained.data.documents)},
      {.context = context, .stride = stride, .batch_tokens = options.batching.batch_tokens});
  tell_repairs(text.read, options.text.size() == 1 ? options.text.front().string() : "--text");
  MetricResult result = perplexity_result(text.stats, "token");
  result.detail += fmt::format(", context {}, stride {}", context, stride);
  if (text.unknown > 0) result.detail += fmt::format("; {} unknown", text.unknown);
  result.figures["documents"] = text.documents;
  result.figures["unknown"] = text.unknown;
  // Bits of the text, where the tokens are all of it: an unknown token stands for any text, and
  // words leave out the white space between them.
  const TokenizerKind kind = model.tokenizer(model.written().name).kind();
  const bool words = kind == TokenizerKind::kWord || kind == TokenizerKind::kWordpiece;
  if (text.unknown > 0 || words) return {{kPerplexity, result}};
  return {{kPerplexity, result},
          {"bits_per_character",
           {text.bits_per_character(),
            fmt::format("{} in {}", counted(text.characters, "character"),
                        counted(text.documents, "document")),
            {{"characters", text.characters}}}},
          {"bits_per_byte",
           {text.bits_per_byte(), counted(text.bytes, "byte"), {{"bytes", text.bytes}}}}};
}

}  // namespace

Evaluation evaluate_model(const EvaluateOptions& options) {
  const TextModel model = load_for_use(options.model, options.adapters);
  model.model->pack();
  const bool language_model = model.model->generator() != nullptr && !model.read();
  if (!language_model && options.reading.has_any()) {
    throw ConfigError(
        "evaluate: --context, --stride and --documents are for language models; this is a {} model",
        model.config.kind.name);
  }
  if (model.model->classifier() != nullptr) return evaluate_classifier(options, model);
  if (model.model->tagger() != nullptr) return evaluate_tagger(options, model);
  if (model.model->regressor() != nullptr) return evaluate_regressor(options, model);
  refuse_options(options, {"--pair", "--tags", "--number"},
                 "does not go with a model that writes texts");
  model.generator();  // says what it is if it does not write either
  refuse_options(options, {"--table", "--errors", "--tag-format", "--scheme"},
                 "does not go with a model that writes texts");
  return {.results = language_model ? evaluate_language_model(options, model)
                                    : evaluate_generator(options, model)};
}

MetricResult perplexity_result(const LikelihoodStats& stats, std::string_view unit) {
  const double nats = nats_per_token(stats);
  return {perplexity(stats),
          fmt::format("{:.4f} nats in each of {}", nats, counted(stats.tokens, unit)),
          {{"nats_per_token", nats}, {"tokens", stats.tokens}}};
}

void check_metrics(const EvaluateOptions& options, std::span<const std::string_view> possible,
                   std::string_view what) {
  for (const std::string& name : options.metrics) {
    if (std::ranges::find(possible, name) != possible.end()) continue;
    std::string names(possible.front());
    for (size_t i = 1; i < possible.size(); ++i) {
      names += i + 1 == possible.size() ? " or " : ", ";
      names += possible[i];
    }
    throw ConfigError("evaluate: --metric {} does not apply to {}; use {}", name, what, names);
  }
}

void check_lengths(const EvaluateOptions& options, const TextModel& model, const ColumnSpec& column,
                   std::span<const std::string> lines, const std::filesystem::path& file) {
  const LineLimit limit = line_limit(column, options.batching.longest_line);
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t tokens = tokens_read(model, column, lines[i]);
    if (!limit.allows(tokens)) limit.fail(place_of_line(file, i + 1), tokens);
  }
}

LinePairs source_pairs(const EvaluateOptions& options) {
  if (!options.source.empty()) return read_pairs(options.source, options.target);
  throw ConfigError(
      "evaluate: the model reads one text and writes another; give --source FILE --target FILE");
}

void check_lengths(const EvaluateOptions& options, const TextModel& model, const LinePairs& pairs) {
  check_lengths(options, model, *model.read(), pairs.sources, options.source);
  check_lengths(options, model, model.written(), pairs.targets,
                options.target.empty() ? options.source : options.target);
}

}  // namespace attend::cli
