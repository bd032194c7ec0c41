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
namespace {

// A text whose label is wrong. Lines count from 1.
struct Mistake {
  size_t line;
  std::string gold, predicted;
  double log_probability;  // of the predicted label
};

// The most confident ones, most confident first.
std::vector<Mistake> worst_of(std::vector<Mistake> mistakes, size_t count) {
  std::ranges::stable_sort(mistakes, std::greater{}, &Mistake::log_probability);
  if (mistakes.size() > count) mistakes.resize(count);
  return mistakes;
}

void add_mistakes(Evaluation& evaluation, const std::vector<Mistake>& mistakes,
                  std::span<const std::string> texts) {
  nlohmann::ordered_json& all = evaluation.parts["errors"] = nlohmann::ordered_json::array();
  evaluation.tables += "\nline\tgold\tpredicted\tprobability\ttext\n";
  for (const Mistake& m : mistakes) {
    const double probability = std::exp(m.log_probability);
    const std::string& text = texts[m.line - 1];
    all.push_back({{"line", m.line},
                   {"gold", m.gold},
                   {"predicted", m.predicted},
                   {"probability", probability},
                   {"text", text}});
    evaluation.tables += fmt::format("{}\t{}\t{}\t{:.4f}\t{}\n", m.line, printable(m.gold),
                                     printable(m.predicted), probability, printable(text));
  }
}

LinePairs labelled_lines(const EvaluateOptions& options, const TextModel& model) {
  const char* const why = "does not go with a model that gives labels, which writes no text";
  refuse_options(options, {"--references", "--grouped", "--lowercase", "--tokenize"}, why);
  refuse_options(options, {"--tag-format", "--scheme"}, "goes with tags; the model gives labels");
  refuse_search_flags(options.search, why);
  if (options.text.size() > 1) {
    throw ConfigError("evaluate: a model that gives labels reads one file; give --text once");
  }
  const std::filesystem::path& text = options.text.empty() ? options.source : options.text.front();
  const std::filesystem::path& label = options.label.empty() ? options.target : options.label;
  LinePairs pairs =
      read_pairs(text, label, {.first = "text", .second = "label", .option = "--label"});
  check_lengths(options, model, *model.read(), pairs.sources, text);
  return pairs;
}

}  // namespace

Evaluation evaluate_classifier(const EvaluateOptions& options, const TextModel& model) {
  std::vector<std::string_view> possible;
  for (const LabelMetric& metric : label_metrics()) possible.push_back(metric.name);
  possible.push_back(kPerplexity);
  check_metrics(options, possible, "a model that gives labels");
  const LinePairs pairs = labelled_lines(options, model);
  const Tokenizer& tokenizer = model.tokenizer("label");
  const auto all = label_log_probabilities(model, pairs.sources, options.batching.batch_tokens);
  LabelCounts counts;
  LikelihoodStats stats;
  std::vector<Mistake> mistakes;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<int32_t> ids = tokenizer.encode(pairs.targets[i]);
    const int32_t number = ids.size() == 1 ? ids.front() - tokenizer.first_piece() : -1;
    const bool known = number >= 0;
    if (known) stats += {all[i][static_cast<size_t>(number)], 1};
    const RankedLabel best = best_labels(all[i], 1).front();
    const std::string gold = known ? model.label(static_cast<size_t>(number)) : pairs.targets[i];
    const std::string predicted = model.label(best.number);
    counts.add(gold, predicted);
    if (!known || best.number != static_cast<size_t>(number)) {
      mistakes.push_back({i + 1, gold, predicted, best.log_probability});
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
  if (options.errors > 0) {
    add_mistakes(found, worst_of(std::move(mistakes), options.errors), pairs.sources);
  }
  return found;
}

}  // namespace attend::cli
