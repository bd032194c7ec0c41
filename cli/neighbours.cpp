// `attend neighbours`: the nearest words to words, analogies, and the nearest lines to lines.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/decode/embed.h"
#include "attend/io/json_text.h"
#include "cli/adapters.h"
#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

struct NeighboursOptions {
  std::filesystem::path model, input = "-", lines;
  std::vector<std::string> words;
  std::string column;
  size_t count = 10;
  EmbeddingPooling pooling = EmbeddingPooling::kMean;
  bool json = false;
};

struct FoundNeighbour {
  std::string text;
  double similarity;
  size_t line = 0;  // from 1; 0: a word
};

void print_neighbours(const NeighboursOptions& options, const std::string& query,
                      const std::vector<FoundNeighbour>& found) {
  if (!options.json) {
    for (const FoundNeighbour& near : found) {
      fmt::print("{}\t{}\t{:.4f}\n", output_text(query), output_text(near.text), near.similarity);
    }
    return;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FoundNeighbour& near : found) {
    nlohmann::ordered_json entry = {{near.line > 0 ? "text" : "word", near.text}};
    if (near.line > 0) entry["line"] = near.line;
    entry["similarity"] = near.similarity;
    list.push_back(entry);
  }
  fmt::print(
      "{}\n",
      output_text(json_text(nlohmann::ordered_json{{"query", query}, {"neighbours", list}})));
}

using FindNeighbours = std::function<std::vector<FoundNeighbour>(const std::string& query)>;

FindNeighbours among_words(const NeighboursOptions& options, TextModel model) {
  auto words = std::make_shared<WordNeighbours>(std::move(model), options.column);
  return [words, count = options.count](const std::string& query) {
    std::vector<FoundNeighbour> found;
    for (WordNeighbours::Word& word : (*words)(query, count)) {
      found.push_back({std::move(word.text), word.similarity});
    }
    return found;
  };
}

FindNeighbours among_lines(const NeighboursOptions& options, const TextModel& model) {
  const EmbeddingOptions pooling{.pooling = options.pooling};
  auto lines = std::make_shared<std::vector<std::string>>(read_lines(options.lines));
  auto vectors = std::make_shared<NearestVectors>(embed_texts(model, *lines, pooling));
  return [=, count = options.count](const std::string& query) {
    std::vector<FoundNeighbour> found;
    const Tensor vector = embed_texts(model, std::span(&query, 1), pooling);
    for (const Neighbour& near : (*vectors)(vector.span(), count)) {
      found.push_back({(*lines)[near.number], near.similarity, near.number + 1});
    }
    return found;
  };
}

int run_neighbours(const NeighboursOptions& options) {
  const TextModel model = load_for_use(options.model);
  model.model->pack();
  const FindNeighbours find =
      options.lines.empty() ? among_words(options, model) : among_lines(options, model);
  for (const std::string& query : options.words) print_neighbours(options, query, find(query));
  if (!options.words.empty()) return 0;
  LineReader input = open_text(options.input);
  while (next_whole(input)) {
    const std::string query(input.line());
    print_neighbours(options, query, find(query));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

Command add_neighbours(CLI::App& app) {
  CLI::App* parser =
      app.add_subcommand("neighbours", "Find the nearest words or lines by their vectors");
  auto options = std::make_shared<NeighboursOptions>();
  parser->add_option("model", options->model, "model directory")
      ->required()
      ->type_name("DIRECTORY");
  parser
      ->add_option("words", options->words,
                   "words, or analogies such as 'king - man + woman' (default: a line each on "
                   "standard input)")
      ->type_name("WORD");
  parser->add_option("--input", options->input, "text file of them, also .gz")->type_name("FILE");
  parser->add_option("-n,--count", options->count, "neighbours of each (10)")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  parser
      ->add_option(
          "--lines", options->lines,
          "find the lines of this file that are nearest to the given ones, by pooled vectors")
      ->type_name("FILE");
  add_pooling(*parser, options->pooling);
  parser
      ->add_option("--column", options->column,
                   "column whose words to search, such as target (default: the one that is read)")
      ->type_name("NAME");
  parser->add_flag("--json", options->json, "one JSON object for each word or line");
  parser->footer(
      "Examples:\n"
      "  attend neighbours vectors editor 'king - man + woman'\n"
      "  attend neighbours model --lines titles.txt 'a library for sound'\n"
      "Prints what was asked for, a neighbour, and the cosine of their vectors.");
  parser->callback([options] {
    if (!options->lines.empty() && !options->column.empty()) {
      throw CLI::ValidationError("--column", "is for words; leave it out with --lines");
    }
  });
  return {parser, [options] { return run_neighbours(*options); }};
}

}  // namespace attend::cli
