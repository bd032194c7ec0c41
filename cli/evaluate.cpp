// `attend evaluate`: how good translations, a model or alignments are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/io/json_text.h"
#include "cli/adapters.h"
#include "cli/commands.h"
#include "cli/evaluate_parts.h"
#include "cli/help.h"
#include "cli/search_flags.h"

namespace attend::cli {
namespace {

Evaluation evaluate_texts(const EvaluateOptions& options) {
  EvaluatedTexts texts{read_lines(options.hypotheses), {}};
  for (const auto& file : options.references) {
    add_reference(texts, file, texts.hypotheses.size(), options.hypotheses);
  }
  Evaluation found{.results = measure_texts(options, texts)};
  if (!options.table) return found;
  const MetricSettings settings = metric_settings(options);
  LabelLines lines = label_lines(texts, settings);
  const auto of_spans = [](const auto& result) { return result.first.starts_with("span_"); };
  const bool spans = std::ranges::any_of(found.results, of_spans);
  if (!spans || !std::ranges::all_of(found.results, of_spans)) {
    found.add_table(options, count_labels(lines));
  }
  if (lines.format == TagFormat::kNone) lines.format = TagFormat::kLines;
  if (spans) found.add_table(options, count_spans(lines, settings.scheme));
  return found;
}

void print(const Evaluation& evaluation, bool json) {
  if (!json) {
    for (const auto& [name, result] : evaluation.results) {
      const std::string score = std::isfinite(result.score)
                                    ? fmt::format("{:.{}f}", result.score, result.decimals)
                                    : "n/a";
      fmt::print("{:<22}{:>8}  {}\n", name, score, result.detail);
    }
    fmt::print("{}", evaluation.tables);
    return;
  }
  nlohmann::ordered_json object;
  for (const auto& [name, result] : evaluation.results) {
    nlohmann::ordered_json entry = {{"score", result.score}};
    entry.update(result.figures);
    object[std::string(name)] = entry;
  }
  object.update(evaluation.parts);
  fmt::print("{}\n", json_text(object));
}

int run_evaluate(const EvaluateOptions& options) {
  if (options.with_model() && !options.gold.empty()) return rank_layers(options);
  print(options.with_model()          ? evaluate_model(options)
        : !options.alignments.empty() ? Evaluation{.results = evaluate_alignments(options)}
                                      : evaluate_texts(options),
        options.json);
  return 0;
}

// All that follows --text is taken for files of it, but a model is a directory.
void take_model(EvaluateOptions& options) {
  if (options.with_model() || options.text.size() < 2) return;
  std::error_code none;
  if (!std::filesystem::is_directory(options.text.back(), none)) return;
  options.model = options.text.back();
  options.text.pop_back();
}

// Options that would do nothing, whatever the model is.
void check_needless(const EvaluateOptions& options) {
  const auto refuse = [&](std::initializer_list<const char*> names, const char* why) {
    refuse_options(options, names, why);
  };
  if (!options.with_model()) {
    const char* const why = "goes with a model";
    refuse({"--source", "--target", "--text", "--label", "--pair", "--tags", "--number",
            "--batch-tokens", "--longest-line"},
           why);
    refuse({"--context", "--stride", "--documents", "--errors"}, why);
    refuse_search_flags(options.search, why);
  }
  if (options.with_model() && !options.metrics.empty() &&
      std::ranges::all_of(options.metrics, [](const auto& name) { return name == kPerplexity; })) {
    const char* const why = "does not go with perplexity, for which nothing is translated";
    refuse({"--references", "--grouped", "--lowercase", "--tokenize"}, why);
    refuse_search_flags(options.search, why);
  }
  if (!options.gold.empty()) {
    const char* const why = "does not go with --gold, which is about links of words";
    refuse({"--references", "--metric", "--grouped", "--lowercase", "--tokenize"}, why);
    refuse({"--table", "--errors", "--tag-format", "--scheme"}, why);
    refuse_search_flags(options.search, why);
  }
}

// What the parser cannot say by itself.
void check(const EvaluateOptions& options) {
  check_search_flags(options.search);
  const int jobs = int{options.with_model()} + int{!options.hypotheses.empty()} +
                   int{!options.alignments.empty()};
  if (jobs != 1) {
    throw CLI::ValidationError(
        "evaluate",
        "give one of these: a model with its text, --hypotheses with --references, or "
        "--alignments with --gold");
  }
  if (!options.gold.empty() && !options.with_model() && options.alignments.empty()) {
    throw CLI::ValidationError("--gold", "needs --alignments, or a model");
  }
  if (options.with_model() && options.source.empty() && options.text.empty()) {
    throw CLI::ValidationError(
        "evaluate", "a model needs --source and --target, --text and --label, or --text alone");
  }
  if (!options.source.empty() && !options.text.empty()) {
    throw CLI::ValidationError("--text", "does not go with --source");
  }
  check_needless(options);
  if (options.grouped && (!options.with_model() || !options.references.empty())) {
    throw CLI::ValidationError(
        "--grouped", "takes all references from --target, or from the second column of --source");
  }
  for (const std::string& metric : options.metrics) {
    if (metric != kPerplexity || options.with_model()) continue;
    throw CLI::ValidationError("--metric", "perplexity needs a model");
  }
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const TextMetric& metric : text_metrics()) {
    if (std::ranges::count(names, metric.name) == 0) names.emplace_back(metric.name);
  }
  names.emplace_back(kPerplexity);
  return names;
}

void add_inputs(CLI::App& parser, EvaluateOptions& options) {
  parser.add_option("model", options.model, "model directory to evaluate")->type_name("DIRECTORY");
  add_adapters(parser, options.adapters);
  parser
      .add_option("--source", options.source,
                  "text for the model, also .gz; without --target, source and target with a tab "
                  "between")
      ->type_name("FILE");
  parser.add_option("--target", options.target, "what the model should write")->type_name("FILE");
  parser
      .add_option(
          "--text", options.text,
          "files of text for a language model, or lines to label, also .gz; without --label, lines "
          "and labels with a tab between")
      ->type_name("FILE");
  parser.add_option("--label", options.label, "the right labels, line by line as the text")
      ->type_name("FILE");
  parser.add_option("--pair", options.pair, "second texts, for a model of pairs")
      ->type_name("FILE");
  parser.add_option("--tags", options.tags, "the right tags, one for each word of --text")
      ->type_name("FILE");
  parser.add_option("--number", options.number, "the right numbers, line by line as the text")
      ->type_name("FILE");
  CLI::Option* hypotheses = parser
                                .add_option("--hypotheses", options.hypotheses,
                                            "translations, labels or tags, instead of a model's")
                                ->type_name("FILE");
  CLI::Option* references =
      parser
          .add_option("--references", options.references,
                      "the right ones; with several files, an empty line is no reference")
          ->type_name("FILE");
  hypotheses->needs(references);
  CLI::Option* alignments =
      parser.add_option("--alignments", options.alignments, "links of words, as in 0-0 1-2")
          ->type_name("FILE");
  CLI::Option* gold =
      parser
          .add_option("--gold", options.gold,
                      "the right links; 1?2 is a possible one. With a model: ranks its layers and "
                      "heads")
          ->type_name("FILE");
  alignments->needs(gold);
}

}  // namespace

void add_reference(EvaluatedTexts& texts, const std::filesystem::path& file, size_t lines,
                   const std::filesystem::path& beside) {
  texts.references.push_back(read_lines(file));
  if (texts.references.back().size() != lines) {
    throw DataError(
        "{} has {} lines but {} has {}; line n of one must belong to line n of the other",
        file.string(), texts.references.back().size(), beside.string(), lines);
  }
}

MetricSettings metric_settings(const EvaluateOptions& options) {
  return {.lowercase = options.lowercase,
          .tokens = value_from_name(kBleuTokens, "tokenisation", options.tokenize),
          .tags = options.tag_format.empty()
                      ? TagFormat::kNone
                      : value_from_name(kTagFormats, "tag format", options.tag_format),
          .scheme = value_from_name(kTagSchemes, "tag scheme", options.scheme)};
}

// Tags are measured as labels and as spans, other lines as texts; and as what was asked for.
Results measure_texts(const EvaluateOptions& options, const EvaluatedTexts& texts) {
  const MetricSettings settings = metric_settings(options);
  const bool tags = settings.tags != TagFormat::kNone;
  Results results;
  for (const TextMetric& metric : text_metrics()) {
    const bool of_texts = metric.of == MetricOf::kTexts;
    if (!options.chosen(metric.name, metric.usual && of_texts != tags)) continue;
    // The accuracy is that of lines, or of tags.
    if (metric.name == kAccuracy && of_texts == tags) continue;
    if (tags && (of_texts || metric.of == MetricOf::kNumbers)) {
      throw ConfigError("evaluate: --metric {} does not apply to tags", metric.name);
    }
    if (options.metrics.empty() && metric.of == MetricOf::kSpans &&
        !are_span_tags(label_lines(texts, settings))) {
      continue;
    }
    results.emplace_back(metric.name, metric.measure(texts, settings));
  }
  return results;
}

void Evaluation::add_table(const EvaluateOptions& options, const LabelCounts& labels) {
  if (!options.table) return;
  tables += class_table(labels);
  parts["labels"] = class_json(labels);
  parts["confusion"] = confusion_json(labels);
}

void Evaluation::add_table(const EvaluateOptions& options, const SpanCounts& spans) {
  if (!options.table) return;
  tables += class_table(spans);
  parts["spans"] = class_json(spans);
}

Command add_evaluate(CLI::App& app) {
  CLI::App* parser =
      app.add_subcommand("evaluate", "Measure a model, texts, labels, or alignments");
  auto options = std::make_shared<EvaluateOptions>();
  add_inputs(*parser, *options);
  parser
      ->add_option("--metric", options->metrics,
                   "what to measure; repeat for more (default: the usual metrics of the task)")
      ->check(CLI::IsMember(metric_names()).description(""))
      ->type_name(choices_text(metric_names()))
      ->expected(1)
      ->take_all();
  parser->add_flag("--grouped", options->grouped,
                   "lines in a row with the same source are references of one");
  parser->add_flag("--lowercase", options->lowercase, "ignore case");
  parser->add_option("--tokenize", options->tokenize, "of BLEU (13a)")
      ->check(CLI::IsMember({"13a", "none", "char"}).description(""))
      ->type_name("{13a,none,char}");
  parser
      ->add_option("--tag-format", options->tag_format,
                   "lines hold tags: those of a text, with spaces between (lines), or columns of a "
                   "token, its tag last, and a blank line after each text (conll)")
      ->check(CLI::IsMember({"lines", "conll"}).description(""))
      ->type_name("{lines,conll}");
  parser
      ->add_option("--scheme", options->scheme,
                   "of spans in tags: any, with repairs, or the rules of one (any)")
      ->check(CLI::IsMember({"any", "iob1", "iob2", "iobes"}).description(""))
      ->type_name("{any,iob1,iob2,iobes}");
  parser->add_flag("--table", options->table,
                   "precision, recall and F1 of each label, and mistaken labels");
  parser
      ->add_option("--errors", options->errors,
                   "show the N most confident mistakes of a model that gives labels")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  parser->add_flag("--json", options->json, "one JSON object");
  options->batching.add(*parser, false);
  options->reading.add(*parser, TextReading());
  options->search.add_all_but("n_best", *parser, SearchConfig());  // the best is measured
  show_in_help(*parser, {"--beam"});
  hide_in_help(*parser, {"--pair", "--tags", "--number", "--grouped", "--lowercase", "--tokenize",
                         "--tag-format", "--scheme", "--batch-tokens", "--longest-line"});
  parser->footer(
      "Examples:\n"
      "  attend evaluate model --source test.de --target test.en --beam 5 --metric bleu\n"
      "  attend evaluate model --text reviews.txt --label stars.txt --table --errors 20\n"
      "  attend evaluate --hypotheses out.txt --references stars.txt --metric f1_macro\n"
      "  attend evaluate model --text rest.txt --stride 64     (a language model)\n"
      "  attend evaluate model --source dev.de --target dev.en --gold dev.links\n"
      "The last one finds the layer and head that align words best, for --alignment-layer best.");
  options->parser = parser;
  parser->callback([=] {
    take_model(*options);
    check(*options);
  });
  return {parser, [options] { return run_evaluate(*options); }};
}

}  // namespace attend::cli
