// `attend evaluate` of a model that gives labels, and its mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/decode/labels.h"
#include "cli/evaluate_parts.h"
#include "cli/search_flags.h"

namespace attend::cli {

std::filesystem::path answered_text(const EvaluateOptions& options, std::string_view gives) {
  const std::string why =
      fmt::format("does not go with a model that gives {}, which writes no text", gives);
  refuse_options(options, {"--references", "--grouped", "--lowercase", "--tokenize"}, why);
  refuse_search_flags(options.search, why.c_str());
  if (options.text.size() > 1) {
    throw ConfigError("evaluate: a model that gives {} reads one file; give --text once", gives);
  }
  return options.text.empty() ? options.source : options.text.front();
}

AnsweredLines answered_lines(const EvaluateOptions& options, const TextModel& model,
                             const std::filesystem::path& gold, std::string_view gives) {
  const std::filesystem::path text = answered_text(options, gives);
  refuse_options(options, {"--tag-format", "--scheme"},
                 fmt::format("goes with tags; the model gives {}", gives));
  const std::string option = fmt::format("--{}", gives.substr(0, gives.size() - 1));
  AnsweredLines lines;
  LinePairs answers = read_pairs(
      text, gold, {.first = "text", .second = gives.substr(0, gives.size() - 1), .option = option});
  lines.texts = std::move(answers.sources);
  lines.gold = std::move(answers.targets);
  if (reads_pairs(model)) {
    if (options.pair.empty()) {
      throw ConfigError("evaluate: the model reads two texts; give --text FILE --pair FILE");
    }
    lines.pairs = read_pairs(text, options.pair).targets;
    check_lengths(options, model, model.model->signature().columns[1], lines.pairs, options.pair);
  } else if (!options.pair.empty()) {
    throw ConfigError("evaluate: the model reads one text; leave out --pair");
  }
  check_lengths(options, model, *model.read(), lines.texts, text);
  return lines;
}

void add_mistakes(const EvaluateOptions& options, std::string_view what,
                  std::vector<Mistake> mistakes, Evaluation& evaluation) {
  if (options.errors == 0) return;
  std::ranges::stable_sort(mistakes, std::greater{}, &Mistake::badness);
  if (mistakes.size() > options.errors) mistakes.resize(options.errors);
  nlohmann::ordered_json& all = evaluation.parts["errors"] = nlohmann::ordered_json::array();
  evaluation.tables += fmt::format("\nline\tgold\tpredicted\t{}\ttext\n", what);
  for (const Mistake& m : mistakes) {
    all.push_back({{"line", m.line},
                   {"gold", m.gold},
                   {"predicted", m.predicted},
                   {std::string(what), m.badness},
                   {"text", m.text}});
    evaluation.tables += fmt::format("{}\t{}\t{}\t{:.4f}\t{}\n", m.line, printable(m.gold),
                                     printable(m.predicted), m.badness, printable(m.text));
  }
}

Evaluation evaluate_classifier(const EvaluateOptions& options, const TextModel& model) {
  std::vector<std::string_view> possible;
  for (const LabelMetric& metric : label_metrics()) possible.push_back(metric.name);
  possible.push_back(kPerplexity);
  check_metrics(options, possible, "a model that gives labels");
  const AnsweredLines lines = answered_lines(
      options, model, options.label.empty() ? options.target : options.label, "labels");
  const Tokenizer& tokenizer = model.tokenizer("label");
  const auto all = label_log_probabilities(model, {.texts = lines.texts, .pairs = lines.pairs},
                                           options.batching.batch_tokens);
  LabelCounts counts;
  LikelihoodStats stats;
  std::vector<Mistake> mistakes;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<int32_t> ids = tokenizer.encode(lines.gold[i]);
    const int32_t number = ids.size() == 1 ? ids.front() - tokenizer.first_piece() : -1;
    const bool known = number >= 0;
    if (known) stats += {all[i][static_cast<size_t>(number)], 1};
    const RankedLabel best = best_labels(all[i], 1).front();
    const std::string gold = known ? model.label(static_cast<size_t>(number)) : lines.gold[i];
    const std::string predicted = model.label(best.number);
    counts.add(gold, predicted);
    if (!known || best.number != static_cast<size_t>(number)) {
      mistakes.push_back({i + 1, gold, predicted, std::exp(best.log_probability), lines.texts[i]});
    }
  }
  Evaluation found;
  for (const LabelMetric& metric : label_metrics()) {
    const bool usual = metric.name == kAccuracy || metric.name == "f1_macro";
    if (!options.chosen(metric.name, usual)) continue;
    found.results.emplace_back(metric.name, label_result(metric, counts, "line"));
  }
  if (options.chosen(kPerplexity, true) && stats.tokens > 0) {
    found.results.emplace_back(kPerplexity, perplexity_result(stats, "label"));
  }
  found.add_table(options, counts);
  add_mistakes(options, "probability", std::move(mistakes), found);
  return found;
}

}  // namespace attend::cli
