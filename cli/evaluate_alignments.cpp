// `attend evaluate --gold`: links between words, given ones or a model's own.
#include <fmt/format.h>

#include <cstdio>

#include "attend/base/error.h"
#include "attend/decode/align_text.h"
#include "attend/metrics/alignment.h"
#include "attend/metrics/unicode.h"
#include "cli/adapters.h"
#include "cli/evaluate_parts.h"

namespace attend::cli {
namespace {

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
void check_links(const EvaluateOptions& options, const std::vector<Link>& links,
                 const LinePairs& pairs, size_t at) {
  if (at >= pairs.sources.size()) return;
  const size_t sources = split_words(pairs.sources[at]).size(),
               targets = split_words(pairs.targets[at]).size();
  for (const Link& link : links) {
    if (link.source < sources && link.target < targets) continue;
    throw DataError(
        "{}:{}: the link {} points outside the line, which has {} source words and {} target "
        "words, "
        "counted from 0",
        options.gold.string(), at + 1, format_links({&link, 1}), sources, targets);
  }
}

// The model directory remembers the best place. Where it cannot be written to, the table is worth
// having all the same.
void remember(const EvaluateOptions& options, TextModel& model, const AlignmentPlace& best) {
  model.best_alignment = best;
  const ModelDirectory directory{options.model};
  try {
    model.save_best_alignment(directory);
    fmt::print(stderr, "attend: {}: --alignment-layer best is now {}, {}\n",
               directory.alignment().string(), best.layer, head_text(best));
  } catch (const std::exception& error) {
    fmt::print(
        stderr, "attend: the best layer could not be saved: {}; use --alignment-layer {}{}\n",
        error.what(), best.layer, best.head ? fmt::format(" --alignment-head {}", *best.head) : "");
  }
}

}  // namespace

int rank_layers(const EvaluateOptions& options) {
  TextModel model = load_for_use(options.model);
  model.generator();
  const LinePairs pairs = source_pairs(options);
  if (!model.read()) {
    throw ConfigError("evaluate: --gold is for models that read one text and write another");
  }
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

Results evaluate_alignments(const EvaluateOptions& options) {
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

}  // namespace attend::cli
