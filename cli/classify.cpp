// `attend classify`: a label for each line of standard input.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/decode/labels.h"
#include "attend/decode/line_limit.h"
#include "attend/io/json_text.h"
#include "cli/adapters.h"
#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

struct ClassifyOptions {
  std::filesystem::path model, input = "-";
  std::vector<std::filesystem::path> adapters;
  size_t n_best = 1;
  Batching batching;
  bool json = false, probabilities = false;
};

void print(const ClassifyOptions& options, const TextModel& model, size_t line,
           const std::string& text, std::span<const double> log_probabilities) {
  const auto best = best_labels(log_probabilities,
                                options.probabilities ? log_probabilities.size() : options.n_best);
  if (options.json) {
    nlohmann::ordered_json labels = nlohmann::ordered_json::array();
    for (const RankedLabel& label : best) {
      labels.push_back(
          {{"label", model.label(label.number)}, {"probability", std::exp(label.log_probability)}});
    }
    const nlohmann::ordered_json object = {{"line", line}, {"text", text}, {"labels", labels}};
    fmt::print("{}\n", output_text(json_text(object)));
    return;
  }
  for (size_t i = 0; i < best.size(); ++i) {
    fmt::print("{}{}\t{:.4f}", i == 0 ? "" : "\t", output_text(model.label(best[i].number)),
               std::exp(best[i].log_probability));
  }
  fmt::print("\n");
}

int run_classify(const ClassifyOptions& options) {
  const TextModel model = load_adapted(options.model, options.adapters);
  model.classifier();  // says which command is for it if it gives no labels
  model.model->pack();
  const ColumnSpec column = *model.read();
  const LineLimit limit = line_limit(column, options.batching.longest_line);
  const Tokenizer& tokenizer = model.tokenizer(column.name);
  LineReader input = open_text(options.input);
  for (size_t done = 0;;) {
    std::vector<std::string> lines = read_window(input, options.batching.window);
    if (lines.empty()) return 0;
    size_t fitting = 0, tokens = 0;
    while (fitting < lines.size() &&
           limit.allows(tokens = tokenizer.encode(lines[fitting]).size())) {
      ++fitting;
    }
    const bool too_long = fitting < lines.size();
    lines.resize(fitting);
    const auto all = label_log_probabilities(model, lines, options.batching.batch_tokens);
    for (size_t i = 0; i < lines.size(); ++i) print(options, model, done++, lines[i], all[i]);
    std::fflush(stdout);
    if (too_long) limit.fail(fmt::format("{}:{}", input.name(), done + 1), tokens);
  }
}

}  // namespace

Command add_classify(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("classify", "Label lines of text with a trained model");
  auto options = std::make_shared<ClassifyOptions>();
  parser->add_option("model", options->model, "model directory")
      ->required()
      ->type_name("DIRECTORY");
  add_adapters(*parser, options->adapters);
  parser->add_option("--input", options->input, "text file, also .gz (default: standard input)")
      ->type_name("FILE");
  parser->add_option("-n,--n-best", options->n_best, "labels of each line, likeliest first (1)")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  CLI::Option* n_best = parser->get_option("--n-best");
  parser->add_flag("--probabilities", options->probabilities, "all labels of each line")
      ->excludes(n_best);
  parser->add_flag("--json", options->json, "one JSON object a line");
  options->batching.add(*parser);
  parser->footer(
      "Examples:\n"
      "  echo 'a fine film' | attend classify model\n"
      "  attend classify model -n 3 --input reviews.txt\n"
      "Each line has a label and its probability, with a tab between; with -n, more of these "
      "follow.");
  return {parser, [options] { return run_classify(*options); }};
}

}  // namespace attend::cli
