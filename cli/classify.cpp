// `attend classify`: a label, tags or a number for each text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/data/words.h"
#include "attend/decode/labels.h"
#include "attend/decode/line_limit.h"
#include "attend/io/json_text.h"
#include "attend/metrics/tags.h"
#include "cli/adapters.h"
#include "cli/argument_texts.h"
#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

struct ClassifyOptions {
  std::filesystem::path model, input, pair;
  std::vector<std::filesystem::path> adapters;
  std::vector<std::string> texts;
  std::optional<size_t> n_best;
  Batching batching;
  bool json = false, probabilities = false;

  // How many labels, or tags of a word, are printed with their probabilities, out of so many.
  size_t ranked(size_t all, size_t usual) const {
    return probabilities ? all : n_best.value_or(usual);
  }
};

void print(const ClassifyOptions& options, const TextModel& model, size_t line,
           const std::string& text, std::span<const double> log_probabilities) {
  const auto best = best_labels(log_probabilities, options.ranked(log_probabilities.size(), 1));
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

nlohmann::ordered_json tag_json(const TextModel& model, const RankedTag& tag) {
  return {{"tag", tag_text(model, tag.number)}, {"probability", tag.probability}};
}

// The words of a line with their tags, as columns, and a blank line; or as one object with the
// spans that the tags mark, if they do. The ranked tags of each word follow, where they were asked
// for.
void print_tags(const ClassifyOptions& options, const TextModel& model, size_t line,
                const std::string& text, const std::vector<WordTag>& tagged) {
  const std::vector<std::string_view> words = words_of(text);
  std::vector<std::string> tags;
  for (const WordTag& tag : tagged) tags.push_back(tag_text(model, tag.best.number));
  if (!options.json) {
    for (size_t i = 0; i < words.size(); ++i) {
      fmt::print("{}\t{}", output_text(std::string(words[i])), output_text(tags[i]));
      for (const RankedTag& tag : tagged[i].ranked) {
        fmt::print("\t{}\t{:.4f}", output_text(tag_text(model, tag.number)), tag.probability);
      }
      fmt::print("\n");
    }
    fmt::print("\n");
    return;
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (size_t i = 0; i < words.size(); ++i) {
    nlohmann::ordered_json word = {{"word", words[i]}};
    word.update(tag_json(model, tagged[i].best));
    for (const RankedTag& tag : tagged[i].ranked) word["tags"].push_back(tag_json(model, tag));
    all.push_back(word);
  }
  nlohmann::ordered_json object = {{"line", line}, {"text", text}, {"words", all}};
  const std::vector<std::string_view> views(tags.begin(), tags.end());
  if (std::ranges::all_of(views, [](std::string_view tag) { return span_tag(tag).has_value(); })) {
    object["spans"] = nlohmann::ordered_json::array();
    for (const TagSpan& span : spans_of(span_tags(views), TagScheme::kAny)) {
      object["spans"].push_back({{"type", span.type}, {"begin", span.begin}, {"end", span.end}});
    }
  }
  fmt::print("{}\n", output_text(json_text(object)));
}

void print_number(const ClassifyOptions& options, size_t line, const std::string& text,
                  double number) {
  if (!options.json) {
    fmt::print("{:.6g}\n", number);
    return;
  }
  const nlohmann::ordered_json object = {{"line", line}, {"text", text}, {"number", number}};
  fmt::print("{}\n", output_text(json_text(object)));
}

// Answers lines one after another and prints the answers.
class Answers {
 public:
  Answers(const ClassifyOptions& options, const TextModel& model)
      : options_(options), model_(model) {}

  // Nothing for `pairs` where the model reads one text.
  void print_all(std::span<const std::string> texts, std::span<const std::string> pairs) {
    const size_t batch = options_.batching.batch_tokens;
    const AskedTexts asked{texts, pairs};
    if (model_.model->tagger() != nullptr) {
      const size_t ranked = options_.ranked(model_.tagger().labels(), 0);
      const auto all = best_tags(model_, texts, batch, ranked);
      for (size_t i = 0; i < texts.size(); ++i) {
        print_tags(options_, model_, done_++, texts[i], all[i]);
      }
    } else if (model_.model->regressor() != nullptr) {
      const auto all = predicted_numbers(model_, asked, batch);
      for (size_t i = 0; i < texts.size(); ++i) print_number(options_, done_++, texts[i], all[i]);
    } else {
      const auto all = label_log_probabilities(model_, asked, batch);
      for (size_t i = 0; i < texts.size(); ++i) print(options_, model_, done_++, texts[i], all[i]);
    }
    std::fflush(stdout);
  }

  size_t done() const { return done_; }  // lines

 private:
  const ClassifyOptions& options_;
  const TextModel& model_;
  size_t done_ = 0;
};

// Lines are answered up to the first that is too long.
class FittingLines {
 public:
  FittingLines(const TextModel& model, size_t longest) : model_(model), longest_(longest) {}

  // How many lines come before one whose text, or second text, is too long.
  size_t count(std::span<const std::string> texts, std::span<const std::string> pairs) {
    const Signature signature = model_.model->signature();
    const std::span<const std::string> columns[] = {texts, pairs};
    for (size_t i = 0; i < texts.size(); ++i) {
      size_t together = 0;
      for (size_t c = 0; c < (pairs.empty() ? 1 : 2); ++c) {
        const ColumnSpec& column = signature.columns[c];
        limit_ = line_limit(column, longest_);
        together += tokens_ = tokens_read(model_, column, columns[c][i]);
        if (!limit_.allows(tokens_)) return i;
      }
      if (const auto most = signature.longest_together(); !pairs.empty() && most) {
        limit_ = {*most, true};
        tokens_ = together;
        if (!limit_.allows(tokens_)) return i;
      }
    }
    return texts.size();
  }
  [[noreturn]] void fail(const std::string& place) const { limit_.fail(place, tokens_); }

 private:
  const TextModel& model_;
  size_t longest_, tokens_ = 0;
  LineLimit limit_;
};

// A model of pairs takes arguments two by two.
LinePairs argument_pairs(const std::vector<std::string>& texts) {
  if (texts.size() % 2 != 0) {
    throw ConfigError(
        "classify: the model reads two texts, and '{}' has no second one; give both as arguments: "
        "attend classify MODEL 'a text' 'its second text'",
        texts.back());
  }
  LinePairs pairs;
  for (size_t i = 0; i < texts.size(); ++i) {
    (i % 2 == 0 ? pairs.sources : pairs.targets).push_back(repaired(texts[i], "the text"));
  }
  return pairs;
}

int run_classify(const ClassifyOptions& options) {
  const TextModel model = load_for_use(options.model, options.adapters);
  const bool numbers = model.model->regressor() != nullptr;
  const bool labels = !numbers && model.model->tagger() == nullptr;
  if (labels) model.classifier();  // says which command is for it if it gives no labels
  if (numbers && (options.n_best || options.probabilities)) {
    throw ConfigError(
        "classify: the n best and --probabilities are of labels and tags; this is a {} model",
        model.config.kind.name);
  }
  model.model->pack();
  Answers answers(options, model);
  FittingLines fitting(model, options.batching.longest_line);
  const auto answer = [&](LinePairs lines, const auto& place) {
    const size_t fit = fitting.count(lines.sources, lines.targets);
    const bool too_long = fit < lines.sources.size();
    lines.sources.resize(fit);
    if (!lines.targets.empty()) lines.targets.resize(fit);
    answers.print_all(lines.sources, lines.targets);
    if (too_long) fitting.fail(place(answers.done() + 1));
  };
  if (!reads_pairs(model)) {
    if (!options.pair.empty()) {
      throw ConfigError("classify: the model reads one text; leave out --pair");
    }
    ArgumentTexts input(options.texts, options.input, "one text a line");
    while (true) {
      std::vector<std::string> lines = input.next(options.batching.window);
      if (lines.empty()) return 0;
      answer({std::move(lines), {}}, [&](size_t number) { return input.place(number); });
    }
  }
  if (!options.texts.empty()) {
    answer(argument_pairs(options.texts),
           [](size_t number) { return fmt::format("pair {}", number); });
    return 0;
  }
  const std::filesystem::path file = options.input.empty() ? "-" : options.input;
  PairedLines input(file, options.pair,
                    {.first = "text", .second = "second text", .option = "--pair"});
  while (true) {
    LinePairs lines = input.read_window(options.batching.window);
    if (lines.sources.empty()) return 0;
    answer(std::move(lines), [&](size_t number) { return place_of_line(file, number); });
  }
}

void check(const ClassifyOptions& options) {
  check_argument_texts("classify", options.texts, options.input);
  if (!options.texts.empty() && !options.pair.empty()) {
    throw CLI::ValidationError(
        "--pair", "does not go with texts as arguments; give the second text as one too");
  }
}

}  // namespace

Command add_classify(CLI::App& app) {
  CLI::App* parser =
      app.add_subcommand("classify", "Give texts labels, tags or numbers with a trained model");
  auto options = std::make_shared<ClassifyOptions>();
  parser->add_option("model", options->model, "model directory")
      ->required()
      ->type_name("DIRECTORY");
  add_adapters(*parser, options->adapters);
  parser
      ->add_option("text", options->texts,
                   "texts, for a model of pairs two by two (default: lines of standard input)")
      ->type_name("TEXT");
  parser->add_option("--input", options->input, "text file, one text a line, also .gz")
      ->type_name("FILE");
  parser
      ->add_option("--pair", options->pair,
                   "second texts, for a model of pairs; without it, both with a tab between")
      ->type_name("FILE");
  parser
      ->add_option("-n,--n-best", options->n_best,
                   "labels of each line, likeliest first (1); tags of each word")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  CLI::Option* n_best = parser->get_option("--n-best");
  parser
      ->add_flag("--probabilities", options->probabilities,
                 "all labels of each line; all tags of each word")
      ->excludes(n_best);
  parser->add_flag("--json", options->json, "one JSON object a line");
  options->batching.add(*parser);
  parser->footer(
      "Examples:\n"
      "  attend classify model 'a fine film'\n"
      "  attend classify model 'a premise' 'its hypothesis'      (a model of pairs)\n"
      "  attend classify model -n 3 --input reviews.txt\n"
      "  attend classify model --input pairs.tsv:premise --pair pairs.tsv:hypothesis\n"
      "Each line has a label and its probability, with a tab between; with -n, more of these "
      "follow. A model that tags prints a line for each word and its tag, and a blank line after "
      "each text; with -n, the likeliest tags of the word and their probabilities follow. One that "
      "gives numbers prints a number.");
  parser->callback([options] { check(*options); });
  return {parser, [options] { return run_classify(*options); }};
}

}  // namespace attend::cli
