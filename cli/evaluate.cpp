// `attend evaluate`: how good translations, a model or alignments are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "attend/base/error.h"
#include "attend/data/reference_texts.h"
#include "attend/decode/align_text.h"
#include "attend/decode/score_text.h"
#include "attend/decode/translator.h"
#include "attend/metrics/alignment.h"
#include "attend/metrics/perplexity.h"
#include "attend/metrics/unicode.h"
#include "cli/commands.h"
#include "cli/config_flags.h"
#include "cli/evaluate_metrics.h"
#include "cli/numbers.h"
#include "cli/search_flags.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

constexpr std::string_view kPerplexity = "perplexity";

struct Options {
  std::filesystem::path model, source, target, hypotheses, alignments, gold;
  std::vector<std::filesystem::path> references;
  std::vector<std::string> metrics;
  std::string tokenize = "13a";
  bool lowercase = false, grouped = false, json = false;
  Batching batching;
  ConfigFlags search;

  bool with_model() const { return !model.empty(); }
  bool chosen(std::string_view name, bool usual) const {
    return metrics.empty() ? usual : std::ranges::count(metrics, name) > 0;
  }
};

using Results = std::vector<std::pair<std::string_view, MetricResult>>;

MetricResult measure_perplexity(const TextModel& model, const LinePairs& pairs, size_t batch) {
  LikelihoodStats stats;
  for (const ScoredText& text : score_text(model, pairs.sources, pairs.targets, batch)) {
    stats += {text.scored.total, text.scored.log_probabilities.size()};
  }
  const double nats = nats_per_token(stats);
  return {perplexity(stats),
          fmt::format("{:.4f} nats in each of {} tokens", nats, stats.tokens),
          {{"nats_per_token", nats}, {"tokens", stats.tokens}}};
}

void add_reference(EvaluatedTexts& texts, const std::filesystem::path& file, size_t lines,
                   const std::filesystem::path& beside) {
  texts.references.push_back(read_lines(file));
  if (texts.references.back().size() != lines) {
    throw DataError(
        "{} has {} lines but {} has {}; line n of the one must belong to line n of "
        "the other",
        file.string(), texts.references.back().size(), beside.string(), lines);
  }
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

Results measure_texts(const Options& options, const EvaluatedTexts& texts) {
  const MetricSettings settings{options.lowercase,
                                value_from_name(kBleuTokens, "tokenisation", options.tokenize)};
  Results results;
  for (const TextMetric& metric : text_metrics()) {
    if (!options.chosen(metric.name, metric.usual)) continue;
    results.emplace_back(metric.name, metric.measure(texts, settings));
  }
  return results;
}

Results evaluate_texts(const Options& options) {
  EvaluatedTexts texts{read_lines(options.hypotheses), {}};
  for (const auto& file : options.references) {
    add_reference(texts, file, texts.hypotheses.size(), options.hypotheses);
  }
  return measure_texts(options, texts);
}

// Before any work: a line that is too long for the model.
void check_lengths(const Options& options, const TextModel& model, const LinePairs& pairs) {
  const LineLimit limit = line_limit(model.config, options.batching.longest_line);
  const auto check = [&](const Tokenizer& tokenizer, const std::vector<std::string>& lines,
                         const std::filesystem::path& file) {
    for (size_t i = 0; i < lines.size(); ++i) {
      const size_t tokens = tokenizer.encode(lines[i]).size();
      if (!limit.allows(tokens)) limit.fail(fmt::format("{}:{}", file.string(), i + 1), tokens);
    }
  };
  check(*model.source, pairs.sources, options.source);
  check(*model.target, pairs.targets, options.target.empty() ? options.source : options.target);
}

Results evaluate_model(const Options& options) {
  const TextModel model = TextModel::load(options.model);
  model.model->pack();
  TranslatorConfig config{.batch_tokens = options.batching.batch_tokens};
  options.search.apply(config.search);
  const LinePairs pairs = read_pairs(options.source, options.target);
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
    results.emplace_back(kPerplexity,
                         measure_perplexity(model, pairs, options.batching.batch_tokens));
  }
  return results;
}

std::vector<Link> links_of(const std::string& line, const std::filesystem::path& file, size_t at) {
  try {
    return parse_links(line);
  } catch (const FormatError& error) {
    throw FormatError("{}:{}: {}", file.string(), at + 1, error.what());
  }
}

std::string head_text(const AlignmentPlace& place) {
  return place.head ? fmt::format("head {}", *place.head) : "mean";
}

// Links of line `at` that point to no word of its texts.
void check_links(const Options& options, const std::vector<Link>& links, const LinePairs& pairs,
                 size_t at) {
  if (at >= pairs.sources.size()) return;
  const size_t sources = split_words(pairs.sources[at]).size(),
               targets = split_words(pairs.targets[at]).size();
  for (const Link& link : links) {
    if (link.source < sources && link.target < targets) continue;
    throw DataError(
        "{}:{}: the link {} leads out of the line, which has {} words of the source and {} of the "
        "target, counted from 0",
        options.gold.string(), at + 1, format_links({&link, 1}), sources, targets);
  }
}

// The model directory remembers the best; one that cannot be written to is no reason to lose the
// table.
void remember(const Options& options, TextModel& model, const AlignmentPlace& best) {
  model.best_alignment = best;
  const ModelDirectory directory{options.model};
  try {
    model.save_best_alignment(directory);
    fmt::print(stderr, "attend: {}: --alignment-layer best is now {}, {}\n",
               directory.alignment().string(), best.layer, head_text(best));
  } catch (const std::exception& error) {
    fmt::print(
        stderr, "attend: which is best is not remembered: {}; ask for --alignment-layer {}{}\n",
        error.what(), best.layer, best.head ? fmt::format(" --alignment-head {}", *best.head) : "");
  }
}

// The error rate of every layer and head.
int rank_layers(const Options& options) {
  TextModel model = TextModel::load(options.model);
  const LinePairs pairs = read_pairs(options.source, options.target);
  check_lengths(options, model, pairs);
  std::vector<std::vector<Link>> gold;
  for (const std::string& line : read_lines(options.gold)) {
    gold.push_back(links_of(line, options.gold, gold.size()));
    check_links(options, gold.back(), pairs, gold.size() - 1);
  }
  const auto ranked =
      rank_alignments(model, pairs.sources, pairs.targets, gold, options.batching.batch_tokens);
  if (ranked.empty()) throw DataError("{}: the model has no attention", options.model.string());
  if (!options.json) fmt::print("{:<22}{:>8}  {}\n", "layer", "AER", "agreement, and head");
  nlohmann::ordered_json places = nlohmann::ordered_json::array();
  for (const RankedAlignment& r : ranked) {
    const double rate = alignment_error_rate(r.stats), precision = alignment_precision(r.stats),
                 recall = alignment_recall(r.stats);
    places.push_back({{"layer", r.place.layer}, {"alignment_error_rate", rate}});
    if (r.place.head) places.back()["head"] = *r.place.head;
    if (options.json) continue;
    fmt::print("{:<22}{:>8.2f}  precision {:.2f} recall {:.2f}, {}\n", r.place.layer, rate,
               precision, recall, head_text(r.place));
  }
  if (options.json) fmt::print("{}\n", places.dump());
  std::fflush(stdout);
  remember(options, model, ranked.front().place);
  return 0;
}

Results evaluate_alignments(const Options& options) {
  const LinePairs lines = read_pairs(options.alignments, options.gold);
  AlignmentStats stats;
  for (size_t i = 0; i < lines.sources.size(); ++i) {
    stats += alignment_stats(links_of(lines.sources[i], options.alignments, i),
                             links_of(lines.targets[i], options.gold, i));
  }
  const double precision = alignment_precision(stats), recall = alignment_recall(stats);
  return {{"alignment_error_rate",
           {alignment_error_rate(stats),
            fmt::format("precision {:.2f} recall {:.2f}, {} links", precision, recall, stats.links),
            {{"precision", precision}, {"recall", recall}, {"links", stats.links}}}}};
}

void print(const Results& results, bool json) {
  if (!json) {
    for (const auto& [name, result] : results) {
      const std::string score =
          std::isfinite(result.score) ? fmt::format("{:.2f}", result.score) : "n/a";
      fmt::print("{:<22}{:>8}  {}\n", name, score, result.detail);
    }
    return;
  }
  nlohmann::ordered_json object;
  for (const auto& [name, result] : results) {
    nlohmann::ordered_json entry = {{"score", result.score}};
    entry.update(result.figures);
    object[std::string(name)] = entry;
  }
  fmt::print("{}\n", object.dump());
}

int run_evaluate(const Options& options) {
  if (options.with_model() && !options.gold.empty()) return rank_layers(options);
  print(options.with_model()          ? evaluate_model(options)
        : !options.alignments.empty() ? evaluate_alignments(options)
                                      : evaluate_texts(options),
        options.json);
  return 0;
}

// Options that would do nothing.
void check_needless(const Options& options, const CLI::App& parser) {
  const auto refuse = [&](std::initializer_list<const char*> names, const char* why) {
    for (const char* name : names) {
      if (parser.count(name) > 0) throw CLI::ValidationError(name, why);
    }
  };
  if (!options.with_model()) {
    const char* const why = "goes with a model";
    refuse({"--source", "--target", "--batch-tokens", "--longest-line"}, why);
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
    refuse_search_flags(options.search, why);
  }
}

// What the parser cannot say by itself.
void check(const Options& options, const CLI::App& parser) {
  check_search_flags(options.search);
  const int jobs = int{options.with_model()} + int{!options.hypotheses.empty()} +
                   int{!options.alignments.empty()};
  if (jobs != 1) {
    throw CLI::ValidationError(
        "evaluate",
        "give one of these: a model with --source and --target, --hypotheses with "
        "--references, or --alignments with --gold");
  }
  if (!options.gold.empty() && !options.with_model() && options.alignments.empty()) {
    throw CLI::ValidationError("--gold", "needs --alignments, or a model");
  }
  if (options.with_model() && options.source.empty()) {
    throw CLI::ValidationError("evaluate", "a model needs --source and --target");
  }
  check_needless(options, parser);
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
  for (const TextMetric& metric : text_metrics()) names.emplace_back(metric.name);
  names.emplace_back(kPerplexity);
  return names;
}

void add_inputs(CLI::App& parser, Options& options) {
  parser.add_option("model", options.model, "model directory, which translates the source")
      ->type_name("DIRECTORY");
  parser
      .add_option("--source", options.source,
                  "text for the model, also .gz; without --target, source and target with a tab "
                  "between")
      ->type_name("FILE");
  parser.add_option("--target", options.target, "what the model should write")->type_name("FILE");
  CLI::Option* hypotheses =
      parser.add_option("--hypotheses", options.hypotheses, "translations, instead of a model's")
          ->type_name("FILE");
  CLI::Option* references =
      parser
          .add_option("--references", options.references,
                      "what they should be; several files for several references, where an empty "
                      "line is none")
          ->type_name("FILE...");
  hypotheses->needs(references);
  CLI::Option* alignments =
      parser.add_option("--alignments", options.alignments, "links of words, as in 0-0 1-2")
          ->type_name("FILE");
  CLI::Option* gold =
      parser
          .add_option("--gold", options.gold,
                      "what they should be; 1?2 is a possible link. With a model: ranks its layers "
                      "and heads")
          ->type_name("FILE");
  alignments->needs(gold);
}

}  // namespace

Command add_evaluate(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("evaluate", "Measure translations, a model, or alignments");
  auto options = std::make_shared<Options>();
  add_inputs(*parser, *options);
  parser
      ->add_option("--metric", options->metrics,
                   "what to measure; repeat for more (all that apply but chrf++ and "
                   "character_error_rate)")
      ->check(CLI::IsMember(metric_names()).description(""))
      ->type_name(choices_text(metric_names()))
      ->expected(1)
      ->take_all();
  parser->add_flag("--grouped", options->grouped,
                   "lines in a row with the same source are references of one");
  parser->add_flag("--lowercase", options->lowercase, "case does not count");
  parser->add_option("--tokenize", options->tokenize, "of BLEU (13a)")
      ->check(CLI::IsMember({"13a", "none", "char"}).description(""))
      ->type_name("{13a,none,char}");
  parser->add_flag("--json", options->json, "one JSON object");
  options->batching.add(*parser, false);
  options->search.add_all_but("n_best", *parser, SearchConfig());  // the best is measured
  parser->footer(
      "Examples:\n"
      "  attend evaluate --hypotheses out.txt --references test.en\n"
      "  attend evaluate model --source test.de --target test.en --beam 5 --metric bleu\n"
      "  attend evaluate --alignments out.links --gold test.links\n"
      "  attend evaluate model --source dev.de --target dev.en --gold dev.links\n"
      "The last one finds the layer and head that align words best; --alignment-layer best of "
      "translate\n"
      "and score then uses them.");
  parser->callback([=] { check(*options, *parser); });
  return {parser, [options] { return run_evaluate(*options); }};
}

}  // namespace attend::cli
