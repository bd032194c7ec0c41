// `attend translate`: lines from standard input through a model to standard output.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/data/lines.h"
#include "attend/decode/translator.h"
#include "attend/io/json_text.h"
#include "cli/adapters.h"
#include "cli/alignment_options.h"
#include "cli/argument_texts.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/search_flags.h"
#include "cli/terminal.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

struct TranslateOptions {
  std::filesystem::path model;
  std::vector<std::filesystem::path> adapters;
  std::vector<std::filesystem::path> others;  // of an ensemble
  std::vector<std::string> texts;
  std::filesystem::path input;
  std::filesystem::path starts;
  std::vector<std::string> banned;
  Batching batching;
  bool json = false, scores = false, draw = false;
  ConfigFlags flags;
  AlignmentOptions alignments;
};

// Ids of a source without its start and end.
std::span<const int32_t> bare_source(const TextModel& model, const Translation& t) {
  const Framing framing = model.read()->framing;
  const size_t start = framing.start ? 1 : 0;
  return std::span(t.source).subspan(start, t.source.size() - framing.extra());
}

std::string links_of(const TranslateOptions& options, const TextModel& model, const Translation& t,
                     size_t i) {
  return options.alignments.line(t.alignments[i], model, bare_source(model, t),
                                 t.hypotheses[i].tokens);
}

nlohmann::ordered_json as_json(const TranslateOptions& options, const TextModel& model, size_t line,
                               const std::string& source, const Translation& t) {
  nlohmann::ordered_json hypotheses = nlohmann::ordered_json::array();
  for (size_t i = 0; i < t.texts.size(); ++i) {
    const Hypothesis& h = t.hypotheses[i];
    hypotheses.push_back({{"text", t.texts[i]},
                          {"score", h.score},
                          {"log_probability", h.log_probability},
                          {"tokens", h.tokens},
                          {"token_log_probabilities", h.log_probabilities},
                          {"ended", h.ended}});
    if (!t.alignments.empty()) {
      hypotheses.back()["alignment"] = links_of(options, model, t, i);
    }
  }
  return {{"line", line}, {"source", source}, {"translations", hypotheses}};
}

// What follows the text of a hypothesis, and the map below it.
std::string after_text(const TranslateOptions& options, const TextModel& model, bool with_score,
                       const Translation& t, size_t i) {
  std::string text;
  if (with_score) text += fmt::format(" ||| {:.4f}", t.hypotheses[i].score);
  if (options.alignments.links) text += " ||| " + links_of(options, model, t, i);
  return text;
}

// What each token that was read is called, with its frame unless that was left out; an unknown one
// says what it stands for.
std::vector<std::string> source_pieces(const TextModel& model, const std::string& source,
                                       const Translation& t, size_t count) {
  const ColumnSpec column = *model.read();
  const Tokenizer& tokenizer = model.tokenizer(column.name);
  std::vector<std::string> pieces = tokenizer.pieces(source);
  pieces.resize(bare_source(model, t).size());
  if (pieces.size() == count) return pieces;
  if (column.framing.start) pieces.insert(pieces.begin(), tokenizer.piece(t.source.front()));
  if (column.framing.end) pieces.push_back(tokenizer.piece(t.source.back()));
  return pieces;
}

std::string drawn(const TextModel& model, const std::string& source, const Translation& t,
                  size_t i) {
  const Tensor& weights = t.alignments[i];
  const std::vector<int32_t>& target = t.hypotheses[i].tokens;
  const Tokenizer& tokenizer = model.tokenizer(model.written().name);
  HeatMap map;
  for (size_t row = 0; row < std::min(weights.rows(), target.size()); ++row) {
    map.rows.push_back(tokenizer.piece(target[row]));
  }
  map.columns = source_pieces(model, source, t, weights.width());
  map.columns.resize(std::min(weights.width(), map.columns.size()));
  map.values = weights.slice_rows(0, map.rows.size()).slice_columns(0, map.columns.size());
  return draw_terminal({&map, 1}, terminal_style());
}

void print(const TranslateOptions& options, const TextModel& model, bool many, size_t line,
           const std::string& source, const Translation& t) {
  if (options.json) {
    fmt::print("{}\n", output_text(json_text(as_json(options, model, line, source, t))));
    return;
  }
  for (size_t i = 0; i < t.texts.size(); ++i) {
    if (many) fmt::print("{} ||| ", line);
    fmt::print("{}{}\n", output_text(t.texts[i]),
               after_text(options, model, many || options.scores, t, i));
    if (options.draw) fmt::print("{}", drawn(model, source, t, i));
  }
}

std::vector<std::string> read_starts(LineReader& reader, size_t count) {
  std::vector<std::string> lines;
  while (lines.size() < count && next_whole(reader)) lines.emplace_back(reader.line());
  if (lines.size() < count) {
    throw DataError("{}: {} lines, but the input has more; it needs one for each", reader.name(),
                    reader.number());
  }
  return lines;
}

// How many lines can be translated before one that is too long.
size_t count_fitting(const Translator& translate, std::span<const std::string> lines) {
  size_t count = 0;
  while (count < lines.size() && translate.fits(lines[count])) ++count;
  return count;
}

// A text of unknown tokens is never written as it is; to ban its tokens would ban others too.
void ban(const std::string& text, const Tokenizer& tokenizer, TokenSequences& banned) {
  std::vector<int32_t> tokens = tokenizer.encode(text);
  if (std::ranges::count(tokens, tokenizer.special().unknown) > 0) {
    fmt::print(stderr, "attend: --ban '{}': not in the vocabulary, so it is never written anyway\n",
               text);
  } else {
    banned.push_back(std::move(tokens));
  }
}

// What the parser cannot say by itself: options that would do nothing.
void check(const TranslateOptions& options) {
  check_argument_texts("translate", options.texts, options.input);
  for (const std::string& text : options.texts) {
    if (std::filesystem::exists(std::filesystem::path(text) / "config.json")) {
      throw CLI::ValidationError(fmt::format(
          "translate: '{}' is a model, not a text; for an ensemble use --with {}", text, text));
    }
  }
  check_search_flags(options.flags);
  if (options.draw && options.json) {
    throw CLI::ValidationError("--draw", "is for a person to see, and does not go with --json");
  }
  if (options.scores && options.json) {
    throw CLI::ValidationError("--scores", "does not go with --json, which has them");
  }
  options.alignments.check(options.draw);
}

int run_translate(const TranslateOptions& options) {
  std::vector<TextModel> models;
  const auto add = [&models](TextModel model) {
    model.model->pack();
    models.push_back(std::move(model));
  };
  add(load_for_use(options.model, options.adapters));
  for (const auto& directory : options.others) add(load_for_use(directory));
  TranslatorConfig config{.batch_tokens = options.batching.batch_tokens,
                          .longest_line = options.batching.longest_line};
  options.flags.apply(config.search);
  LineProgress progress(options.input);
  config.on_progress = [&progress](size_t lines) { progress.show(lines); };
  if (options.alignments.links || options.draw) config.alignment = options.alignments.config();
  const Tokenizer& target = models.front().tokenizer(models.front().written().name);
  for (const std::string& text : options.banned) ban(text, target, config.banned);
  const bool many = config.search.n_best > 1;
  const Translator translate(std::move(models), config);

  ArgumentTexts input(options.texts, options.input, "one sentence a line");
  std::unique_ptr<LineReader> starts;
  if (!options.starts.empty()) starts = std::make_unique<LineReader>(open_text(options.starts));
  size_t done = 0;
  while (true) {
    std::vector<std::string> lines = input.next(options.batching.window);
    if (lines.empty()) return 0;
    const size_t fitting = count_fitting(translate, lines);
    const std::string too_long = fitting < lines.size() ? lines[fitting] : "";
    lines.resize(fitting);
    std::vector<std::string> begin_with;
    if (starts) begin_with = read_starts(*starts, lines.size());
    const std::vector<Translation> all = translate(lines, done, begin_with);
    for (size_t i = 0; i < all.size(); ++i) {
      print(options, translate.model(), many, done + i, lines[i], all[i]);
    }
    std::fflush(stdout);
    done += lines.size();
    progress.begin_at(done);
    if (!too_long.empty()) translate.check(too_long, input.place(done + 1));
  }
}

}  // namespace

Command add_translate(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("translate", "Rewrite lines of text with a trained model");
  auto options = std::make_shared<TranslateOptions>();
  parser->add_option("model", options->model, "model directory")
      ->required()
      ->type_name("DIRECTORY");
  add_adapters(*parser, options->adapters);
  parser->add_option("text", options->texts, "sentences (default: lines of standard input)")
      ->type_name("TEXT");
  parser->add_option("--input", options->input, "text file, one sentence a line, also .gz")
      ->type_name("FILE");
  parser
      ->add_option("--with", options->others,
                   "another model, to translate together; repeat for more")
      ->type_name("DIRECTORY")
      ->expected(1)
      ->allow_extra_args(false);
  parser->add_option("--starts", options->starts, "what each translation starts with, a line each");
  parser->add_option("--ban", options->banned, "words that are never written; repeat for more")
      ->type_name("TEXT")
      ->expected(1)
      ->allow_extra_args(false);
  options->batching.add(*parser);
  parser->add_flag("--scores", options->scores, "add ||| and the score to each line");
  parser->add_flag("--draw", options->draw, "draw below each line what each token looked at");
  parser->add_flag("--json", options->json, "one JSON object a line");
  options->flags.add(*parser, SearchConfig());
  show_in_help(*parser, {"--beam", "--n-best", "--sample", "--temperature", "--seed",
                         "--length-penalty", "--max-length"});
  hide_in_help(*parser, {"--batch-tokens", "--window", "--longest-line", "--starts"});
  options->alignments.add(*parser);
  parser->footer(
      "Examples:\n"
      "  attend translate model 'ein Haus'\n"
      "  attend translate model --beam 8 --n-best 8 --input test.de > nbest.txt\n"
      "  attend translate model --with other --input test.de      (an ensemble)\n"
      "  attend translate model 'ein Haus' --draw\n"
      "With --n-best above 1 a line is: number ||| text ||| score, and no text comes twice.\n"
      "Blank lines stay blank.");
  parser->callback([options] { check(*options); });
  return {parser, [options] { return run_translate(*options); }};
}

}  // namespace attend::cli
