// `attend embed`: a vector for each line, or for each token; or how similar two lines are.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/names.h"
#include "attend/decode/embed.h"
#include "attend/inspect/npy.h"
#include "attend/io/json_text.h"
#include "cli/adapters.h"
#include "cli/argument_texts.h"
#include "cli/commands.h"
#include "cli/config_flags.h"
#include "cli/embed_picture.h"
#include "cli/help.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct EmbedOptions {
  std::filesystem::path model, input, output;
  std::vector<std::string> texts;
  std::string format = "json";
  bool tokens = false, similarity = false;
  EmbeddingOptions vectors;
  size_t window = 1024;
  EmbedPictureOptions picture;
};

Json numbers_of(const float* values, size_t count) {
  Json list = Json::array();
  for (size_t i = 0; i < count; ++i) list.push_back(values[i]);
  return list;
}

// Texts to compare as lines of two with a tab between: arguments without tabs go two by two.
std::vector<std::string> similarity_lines(std::vector<std::string> texts) {
  const bool tabs = std::ranges::any_of(
      texts, [](const std::string& text) { return text.find('\t') != text.npos; });
  if (tabs || texts.size() % 2 != 0) return texts;
  std::vector<std::string> lines;
  for (size_t i = 0; i < texts.size(); i += 2) lines.push_back(texts[i] + "\t" + texts[i + 1]);
  return lines;
}

// Collects, or prints at once what may be printed line by line.
class VectorOutput {
 public:
  explicit VectorOutput(const EmbedOptions& options) : options_(options) {}

  void add(const std::string& text, const float* vector, size_t width) {
    width_ = width;
    if (options_.format == "json") {
      put(json_text(
              Json{{"line", lines_++}, {"text", text}, {"vector", numbers_of(vector, width)}}) +
          "\n");
    } else {
      values_.insert(values_.end(), vector, vector + width);
      ++lines_;
    }
  }

  void add(const std::string& text, const TokenRows& tokens) {
    width_ = tokens.rows.width();
    if (options_.format != "json") {
      const std::vector<float> rows = tokens.rows.to_vector();
      values_.insert(values_.end(), rows.begin(), rows.end());
      lines_ += tokens.pieces.size();
      return;
    }
    Json list = Json::array();
    for (size_t i = 0; i < tokens.pieces.size(); ++i) {
      list.push_back({{"token", tokens.pieces[i]},
                      {"vector", numbers_of(tokens.rows.data() + i * width_, width_)}});
    }
    put(json_text(Json{{"line", lines_++}, {"text", text}, {"tokens", list}}) + "\n");
  }

  void finish() {
    if (options_.format == "npy") {
      put(npy_bytes(Tensor::of(values_, {lines_, width_})));
    } else if (options_.format == "raw") {
      put({reinterpret_cast<const char*>(values_.data()), values_.size() * sizeof(float)});
    }
    if (!options_.output.empty()) replace_file(options_.output, text_);
  }

 private:
  void put(const std::string& text) {
    if (options_.output.empty()) {
      std::fwrite(text.data(), 1, text.size(), stdout);
    } else {
      text_ += text;
    }
  }

  const EmbedOptions& options_;
  size_t lines_ = 0, width_ = 0;
  std::vector<float> values_;
  std::string text_;
};

void print_similarities(const TextModel& model, const EmbedOptions& options,
                        const std::vector<std::string>& lines, size_t before) {
  std::vector<std::string> texts;
  for (const std::string& line : lines) {
    const size_t tab = line.find('\t');
    if (tab == line.npos) {
      throw DataError("embed: line {} has no tab; --similarity needs two texts with a tab between",
                      before + texts.size() / 2 + 1);
    }
    texts.push_back(line.substr(0, tab));
    texts.push_back(line.substr(tab + 1));
  }
  const Tensor vectors = embed_texts(model, texts, options.vectors);
  const size_t width = vectors.width();
  for (size_t i = 0; i < lines.size(); ++i) {
    const float* const first = vectors.data() + 2 * i * width;
    fmt::print("{:.6f}\n", cosine({first, width}, {first + width, width}));
  }
  std::fflush(stdout);
}

int run_embed(const EmbedOptions& options) {
  const TextModel model = load_for_use(options.model);
  model.model->pack();
  if (!options.picture.picture.empty()) {
    std::vector<std::string> lines = options.texts;
    if (lines.empty() && options.picture.words == 0) lines = read_lines(options.input);
    draw_embeddings(model, options.picture, lines, options.vectors);
    return 0;
  }
  VectorOutput output(options);
  size_t before = 0;
  const auto embed = [&](const std::vector<std::string>& lines) {
    if (options.similarity) {
      print_similarities(model, options, lines, before);
    } else if (options.tokens) {
      const std::vector<TokenRows> rows = embed_tokens(model, lines, options.vectors);
      for (size_t i = 0; i < lines.size(); ++i) output.add(lines[i], rows[i]);
    } else {
      const Tensor vectors = embed_texts(model, lines, options.vectors);
      const size_t width = vectors.width();
      for (size_t i = 0; i < lines.size(); ++i) {
        output.add(lines[i], vectors.data() + i * width, width);
      }
    }
    before += lines.size();
  };
  if (!options.texts.empty()) {
    std::vector<std::string> texts;
    for (const std::string& text : options.texts) texts.push_back(repaired(text, "the text"));
    embed(options.similarity ? similarity_lines(std::move(texts)) : texts);
  } else {
    LineReader input =
        open_text(options.input.empty() ? "-" : options.input,
                  options.similarity ? "two texts a line with a tab between" : "one text a line");
    for (;;) {
      const std::vector<std::string> lines = read_window(input, options.window);
      if (lines.empty()) break;
      embed(lines);
    }
  }
  if (!options.similarity) output.finish();
  return 0;
}

}  // namespace

void add_pooling(CLI::App& parser, EmbeddingPooling& pooling) {
  std::map<std::string, EmbeddingPooling> known;
  std::vector<std::string> names;
  for (const EmbeddingPooling each : {EmbeddingPooling::kMean, EmbeddingPooling::kFirst,
                                      EmbeddingPooling::kLast, EmbeddingPooling::kAttention}) {
    names.emplace_back(name_of(each));
    known[names.back()] = each;
  }
  parser
      .add_option_function<std::string>(
          "--pooling", [known, &pooling](const std::string& name) { pooling = known.at(name); },
          "how a text's rows become one; attention: by the query that a label model learned (mean)")
      ->type_name(choices_text(names))
      ->check(CLI::IsMember(names).description(""));
}

Command add_embed(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("embed", "Print the vectors of texts, or draw them");
  auto options = std::make_shared<EmbedOptions>();
  parser->add_option("model", options->model, "model directory")
      ->required()
      ->type_name("DIRECTORY");
  parser->add_option("texts", options->texts, "texts (default: lines of standard input)")
      ->type_name("TEXT");
  CLI::Option* input =
      parser->add_option("--input", options->input, "text file, also .gz")->type_name("FILE");
  parser->add_option("--output", options->output, "file to write (default: standard output)")
      ->type_name("FILE");
  parser
      ->add_option("--format", options->format,
                   "a JSON object a line, an array for NumPy, or float32 row by row (json)")
      ->type_name(choices_text({"json", "npy", "raw"}))
      ->check(CLI::IsMember({"json", "npy", "raw"}).description(""));
  add_pooling(*parser, options->vectors.pooling);
  parser->add_flag("--tokens", options->tokens, "a vector for each token, not for each text");
  parser->add_flag("--normalize", options->vectors.normalize, "scale vectors to length 1");
  parser->add_flag("--similarity", options->similarity,
                   "print the cosine of two texts: two arguments, or a line with a tab between");
  parser
      ->add_option("--batch-tokens", options->vectors.batch_tokens,
                   "tokens of a batch at most (4096)")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  parser->add_option("--window", options->window, "lines sorted by length together (1024)")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  options->picture.add(*parser);
  hide_in_help(*parser, {"--iterations", "--seed", "--column"});
  parser->footer(
      "Examples:\n"
      "  attend embed model --input titles.txt --format npy --output titles.npy\n"
      "  attend embed model --similarity 'a cat' 'a dog'\n"
      "  attend embed model --input t.tsv:1 --label t.tsv:2 --picture map.html --method tsne\n"
      "  attend embed vectors --words 500 --picture words.svg\n"
      "Any model that reads text can embed it.");
  parser->callback([options, input] {
    check_argument_texts("embed", options->texts, options->input);
    options->picture.check(input->count() > 0 || !options->texts.empty());
    const bool prints = options->similarity || options->tokens || options->format != "json" ||
                        !options->output.empty();
    if (!options->picture.picture.empty() && prints) {
      throw CLI::ValidationError(
          "--picture",
          "draws and prints no vectors; leave out --tokens, --similarity, --format "
          "and --output");
    }
    if (options->similarity && (options->tokens || options->format != "json")) {
      throw CLI::ValidationError("--similarity", "prints numbers; leave out --tokens and --format");
    }
  });
  return {parser, [options] { return run_embed(*options); }};
}

}  // namespace attend::cli
