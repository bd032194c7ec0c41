// `attend fill`: candidates for the masked tokens of texts.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/decode/fill.h"
#include "attend/io/json_text.h"
#include "cli/adapters.h"
#include "cli/argument_texts.h"
#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

struct FillOptions {
  std::filesystem::path model, input;
  std::vector<std::filesystem::path> adapters;
  std::vector<std::string> texts;
  size_t n_best = 5;
  bool json = false;
};

void print_filled(const FillOptions& options, size_t line, const std::string& text,
                  const FilledMasks& masks) {
  if (options.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const auto& candidates : masks) {
      nlohmann::ordered_json one = nlohmann::ordered_json::array();
      for (const FilledToken& token : candidates) {
        one.push_back({{"id", token.id},
                       {"token", token.piece},
                       {"probability", token.probability},
                       {"text", token.text}});
      }
      all.push_back(std::move(one));
    }
    const nlohmann::ordered_json object = {{"line", line}, {"text", text}, {"masks", all}};
    fmt::print("{}\n", output_text(json_text(object)));
    return;
  }
  for (size_t mask = 0; mask < masks.size(); ++mask) {
    for (const FilledToken& token : masks[mask]) {
      const std::string number = masks.size() > 1 ? fmt::format("{}\t", mask + 1) : "";
      fmt::print("{}{:.4f}\t{}\t{}\n", number, token.probability, output_text(token.piece),
                 output_text(token.text));
    }
  }
}

void fill_lines(const FillOptions& options, const TextModel& model,
                std::span<const std::string> lines, size_t first) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find_first_not_of(" \t\v\f\r") == std::string::npos) continue;
    const auto filled = fill_masks(model, lines.subspan(i, 1), options.n_best);
    if (filled.front().empty()) {
      throw DataError("line {}: it has no mask; write {} where a token is to be told",
                      first + i + 1, mask_names(model.tokenizer("text")).front());
    }
    print_filled(options, first + i, lines[i], filled.front());
  }
  std::fflush(stdout);
}

int run_fill(const FillOptions& options) {
  const TextModel model = load_for_use(options.model, options.adapters);
  model.masked_predictor();  // says which command is for it if it predicts none
  model.model->pack();
  ArgumentTexts input(options.texts, options.input, "one text a line");
  for (size_t done = 0;;) {
    const std::vector<std::string> lines = input.next(100);
    if (lines.empty()) return 0;
    fill_lines(options, model, lines, done);
    done += lines.size();
  }
}

}  // namespace

Command add_fill(CLI::App& app) {
  CLI::App* parser =
      app.add_subcommand("fill", "Fill in the [MASK]s of texts with a trained model");
  auto options = std::make_shared<FillOptions>();
  parser->add_option("model", options->model, "model directory")
      ->required()
      ->type_name("DIRECTORY");
  add_adapters(*parser, options->adapters);
  parser->add_option("text", options->texts, "texts (default: lines of standard input)")
      ->type_name("TEXT");
  parser->add_option("--input", options->input, "text file, also .gz")->type_name("FILE");
  parser->add_option("-n,--n-best", options->n_best, "candidates of each mask, likeliest first (5)")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  parser->add_flag("--json", options->json, "one JSON object a line");
  parser->footer(
      "Examples:\n"
      "  attend fill model 'the film is [MASK] .'\n"
      "  attend fill model -n 3 --json --input lines.txt\n"
      "Each line has a probability, a token and the text with it, with tabs between. With several "
      "masks in a text, the number of the mask is in front.");
  parser->callback([options] { check_argument_texts("fill", options->texts, options->input); });
  return {parser, [options] { return run_fill(*options); }};
}

}  // namespace attend::cli
