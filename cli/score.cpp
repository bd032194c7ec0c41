// `attend score`: how probable a model finds given translations, by teacher forcing.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/base/error.h"
#include "attend/decode/line_limit.h"
#include "attend/decode/score.h"
#include "attend/io/json_text.h"
#include "cli/adapters.h"
#include "cli/alignment_options.h"
#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

struct ScoreOptions {
  std::filesystem::path model, source = "-", target;
  std::vector<std::filesystem::path> adapters;
  Batching batching;
  bool mean = false, tokens = false, json = false;
  AlignmentOptions alignments;
};

// A line of links for each pair.
std::vector<std::string> links_of(const ScoreOptions& options, const TextModel& model,
                                  const LinePairs& pairs) {
  const AlignmentConfig config = options.alignments.config();
  std::vector<std::string> lines;
  for (const AlignedText& text :
       align_text(model, pairs.sources, pairs.targets, config, options.batching.batch_tokens)) {
    lines.push_back(options.alignments.line(text.weights, model, text.source, text.target));
  }
  return lines;
}

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const ScoredText& text) {
  std::vector<std::string> pieces(text.tokens.size());
  std::ranges::transform(text.tokens, pieces.begin(),
                         [&](int32_t id) { return tokenizer.piece(id); });
  pieces.push_back(tokenizer.piece(tokenizer.special().end));
  return pieces;
}

void print_json(size_t line, const std::vector<std::string>& pieces, const Scored& scored,
                const std::string* links) {
  nlohmann::ordered_json object = {{"line", line},
                                   {"log_probability", scored.total},
                                   {"mean", scored.total / static_cast<double>(pieces.size())},
                                   {"pieces", pieces},
                                   {"token_log_probabilities", scored.log_probabilities}};
  if (links != nullptr) object["alignment"] = *links;
  fmt::print("{}\n", output_text(json_text(object)));
}

void print(const ScoreOptions& options, const Tokenizer& tokenizer, size_t line,
           const ScoredText& text, const std::string* links) {
  const std::vector<std::string> pieces = pieces_of(tokenizer, text);
  if (options.json) return print_json(line, pieces, text.scored, links);
  const double count = options.mean ? static_cast<double>(pieces.size()) : 1.0;
  fmt::print("{:.4f}", text.scored.total / count);
  for (size_t i = 0; options.tokens && i < pieces.size(); ++i) {
    fmt::print("\t{} {:.4f}", output_text(pieces[i]), text.scored.log_probabilities[i]);
  }
  if (links != nullptr) fmt::print("\t{}", *links);
  fmt::print("\n");
}

// A column of the pairs, and how many tokens it may have.
struct Side {
  const Tokenizer& tokenizer;
  LineLimit limit;
};

// A line that is too long for the model.
struct TooLong {
  bool target;
  size_t tokens;
};

// Takes the first pair that has one away, with all that follow.
std::optional<TooLong> cut(LinePairs& pairs, const Side& source, const Side& target) {
  for (size_t i = 0; i < pairs.sources.size(); ++i) {
    const size_t sources = source.tokenizer.encode(pairs.sources[i]).size(),
                 targets = target.tokenizer.encode(pairs.targets[i]).size();
    const bool fits = source.limit.allows(sources);
    if (fits && target.limit.allows(targets)) continue;
    pairs.sources.resize(i);
    pairs.targets.resize(i);
    return fits ? TooLong{true, targets} : TooLong{false, sources};
  }
  return std::nullopt;
}

int run_score(const ScoreOptions& options) {
  const TextModel model = load_for_use(options.model, options.adapters);
  const ColumnSpec written = model.written();
  const std::optional<ColumnSpec> read = model.read();
  if (!read) {
    throw ConfigError("score: the model reads nothing but what it writes; use `attend evaluate`");
  }
  model.model->pack();
  const auto side = [&](const ColumnSpec& column) {
    return Side{model.tokenizer(column.name), line_limit(column, options.batching.longest_line)};
  };
  const Side source = side(*read), target = side(written);
  PairedLines input(options.source, options.target);
  for (size_t done = 0;;) {
    LinePairs pairs = input.read_window(options.batching.window);
    if (pairs.sources.empty()) return 0;
    const std::optional<TooLong> too_long = cut(pairs, source, target);
    std::vector<std::string> links;
    if (options.alignments.links) links = links_of(options, model, pairs);
    const auto all = score_text(model, pairs.sources, pairs.targets, options.batching.batch_tokens);
    for (size_t i = 0; i < all.size(); ++i) {
      print(options, target.tokenizer, done++, all[i], links.empty() ? nullptr : &links[i]);
    }
    std::fflush(stdout);
    if (too_long) {
      const bool own_file = too_long->target && !options.target.empty();
      (too_long->target ? target : source)
          .limit.fail(place_of_line(own_file ? options.target : options.source, done + 1),
                      too_long->tokens);
    }
  }
}

}  // namespace

Command add_score(CLI::App& app) {
  CLI::App* parser =
      app.add_subcommand("score", "Print how probable given translations are to a model");
  auto options = std::make_shared<ScoreOptions>();
  parser->add_option("model", options->model, "model directory")
      ->required()
      ->type_name("DIRECTORY");
  add_adapters(*parser, options->adapters);
  parser
      ->add_option("--source", options->source,
                   "text that was read, also .gz; without --target, source and target with a tab "
                   "between (default: standard input)")
      ->type_name("FILE");
  parser->add_option("--target", options->target, "text to score, line by line as the source")
      ->type_name("FILE");
  parser->add_flag("--mean", options->mean, "per token, the end of the line included");
  parser->add_flag("--tokens", options->tokens, "add each token and its log-probability");
  parser->add_flag("--json", options->json, "one JSON object a line");
  options->batching.add(*parser);
  options->alignments.add(*parser);
  parser->footer(
      "Examples:\n"
      "  attend score model --source test.de --target test.en\n"
      "  paste test.de test.en | attend score model --mean\n"
      "  attend score model --source test.de --target test.en --alignments --words\n"
      "Scores are natural logarithms, in the order of the lines; tabs separate the tokens.");
  parser->callback([options] {
    options->alignments.check();
    if (!options->json) return;
    if (options->tokens)
      throw CLI::ValidationError("--tokens", "does not go with --json, which has them");
    if (options->mean)
      throw CLI::ValidationError("--mean", "does not go with --json, which has it");
  });
  return {parser, [options] { return run_score(*options); }};
}

}  // namespace attend::cli
