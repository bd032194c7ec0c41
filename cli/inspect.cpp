// `attend inspect`: what a model looks at, as a picture or as numbers.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "attend/attention/intervention.h"
#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/printable.h"
#include "attend/data/lines.h"
#include "attend/decode/line_limit.h"
#include "attend/inspect/attention_maps.h"
#include "attend/inspect/cell.h"
#include "attend/inspect/label_saliency.h"
#include "attend/inspect/lens_pictures.h"
#include "attend/inspect/masked_tokens.h"
#include "attend/inspect/text_width.h"
#include "attend/inspect/tuning.h"
#include "attend/nn/freeze.h"
#include "cli/adapters.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/inspect_pictures.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/search_flags.h"
#include "cli/terminal.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

std::string line_of_standard_input() {
  LineReader input = open_text("-", "one line");
  std::string line;
  if (input.next()) line = input.line();
  if (input.too_long()) {
    throw DataError("{}:1: the line is over {} bytes; use a part of it", input.name(),
                    kLongestLine);
  }
  return line;
}

// Options of an output, or of a search, that the model does not have.
void check_outputs(const InspectOptions& options, const TextModel& model) {
  if (model.model->generator() != nullptr) return;
  if (options.search.has_any()) {
    throw ConfigError(
        "inspect: the model writes no sequence, so nothing is searched; leave out the search "
        "options");
  }
  if (options.target_given && model.model->classifier() == nullptr) {
    throw ConfigError("inspect: the model has no output; leave out --target");
  }
}

// What --input has, by the name of the sequence.
TraceTexts named_texts(const InspectOptions& options, const Signature& signature) {
  TraceTexts texts;
  for (const std::string& input : options.inputs) {
    const size_t end = input.find('=');
    const std::string name = signature.column(input.substr(0, end)).name;  // or throws
    if (texts.emplace(name, input.substr(end + 1)).second) continue;
    throw ConfigError("inspect: '{}' is given twice; leave out one --input", name);
  }
  return texts;
}

// The texts of all sequences, each from one place: an argument or standard input, --target, or
// --input.
TraceTexts given_texts(const InspectOptions& options, const TextModel& model) {
  const Signature signature = model.model->signature();
  TraceTexts named = named_texts(options, signature);
  for (const auto& [name, _] : texts_of(signature, "")) {  // the one that the argument is for
    if (!options.source_given || !named.contains(name)) continue;
    throw ConfigError("inspect: '{}' is given twice; leave out the argument or --input", name);
  }
  for (const auto& [name, _] : named) {
    const ColumnSpec& column = signature.column(name);
    if (!options.target_given || !(column.written || column.kind == ColumnKind::kLabel)) continue;
    throw ConfigError("inspect: '{}' is given twice; leave out --target or --input", name);
  }
  // A model that reads nothing but what it writes may be given all of that.
  const bool complete = options.target_given && !model.read();
  const bool asked =
      !options.source_given && !complete && !named.contains(texts_of(signature, "").begin()->first);
  TraceTexts texts =
      texts_of(signature, asked ? line_of_standard_input() : options.source, options.target);
  named.merge(texts);
  return named;
}

// The prompt of a language model does not count, as in `attend generate`.
void count_after_prompt(const TextModel& model, const TraceTexts& texts, SearchConfig& search) {
  if (model.model->generator() == nullptr || model.read()) return;
  const std::string name = model.written().name;
  const size_t prompt = model.tokenizer(name).encode(texts.at(name)).size();
  const size_t most = search.max_length > 0 ? search.max_length : kLengthWithoutInput;
  search.max_length = std::min<size_t>(prompt + most, limits::kLength.high);
  search.min_length = std::min<size_t>(prompt + search.min_length, limits::kLength.high);
}

Trace trace_of(const InspectOptions& options, const TextModel& model) {
  const TraceTexts texts = given_texts(options, model);
  const Signature signature = model.model->signature();
  for (const auto& [name, text] : texts) {
    const ColumnSpec& column = signature.column(name);
    check_length("inspect", column, model.tokenizer(name).encode(text).size(), kMostLineTokens);
  }
  check_outputs(options, model);
  if (options.target_given) return given_trace(model, texts);
  SearchConfig search;
  options.search.apply(search);
  count_after_prompt(model, texts, search);
  return written_trace(model, texts, search);
}

// "3", "mean", "max" or "all".
std::string check_head_text(const std::string& text) {
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (number || text == "mean" || text == "max" || text == "all") return "";
  return fmt::format("should be a number from 0, mean, max or all, not '{}'", text);
}

// "decoder.1.cross:3", or all heads of "decoder.1.cross". Throws ConfigError where the model has
// none of them.
HeadsOf heads_named(const std::string& text, const Signature& signature) {
  const size_t colon = text.rfind(':');
  const AttentionLayer& layer = layer_named(signature.layers, text.substr(0, colon));
  if (colon == text.npos) return {layer.name};
  const HeadChoice choice = HeadChoice::parse(text.substr(colon + 1));
  if (choice.kind != HeadChoice::Kind::kOne) {
    throw ConfigError("inspect: '{}': use LAYER, or LAYER:HEAD with its number from 0",
                      shown_name(text));
  }
  check_head(layer, choice);
  return {layer.name, choice.head};
}

TextModel loaded_base(const std::filesystem::path& directory) {
  TextModel base = load_for_use(directory);
  freeze(*base.model);
  return base;
}

void print_note(std::string_view note, size_t columns) {
  for (const std::string& line : wrapped(note, columns)) fmt::print(stderr, "{}\n", line);
}

int run_inspect(const InspectOptions& options) {
  const TextModel model = load_for_use(options.model, options.adapters);
  freeze(*model.model);
  const PictureFormat format = format_of(options);
  if (format == PictureFormat::kPng && options.out.empty() && isatty(STDOUT_FILENO) != 0) {
    throw ConfigError("inspect: a PNG cannot be shown in a terminal; add --out FILE.png");
  }
  Intervention intervention;
  for (const std::string& heads : options.knocked_out) {
    intervention.knock_out(heads_named(heads, model.model->signature()));
  }
  const Trace trace = trace_of(options, model);
  const bool entropy = options.show == "entropy";
  const std::string picture =
      options.base.empty() ? drawn(options, model, trace, format)
                           : drawn_beside(options, loaded_base(options.base), model, trace, format);
  if (!options.out.empty()) {
    replace_file(options.out, picture);
    return 0;
  }
  const TraceSequence* const written = trace.written();
  if (format == PictureFormat::kTerminal && !options.target_given && !entropy && written) {
    fmt::print("{}\n", output_text(model.tokenizer(written->name).decode(written->text_ids())));
  }
  std::fwrite(picture.data(), 1, picture.size(), stdout);
  if (format == PictureFormat::kTerminal && isatty(STDOUT_FILENO) != 0) {
    const std::string_view note = options.show == "lens"     ? kLensNote
                                  : options.show == "masked" ? kMaskedNote
                                  : options.show == "labels" ? kLabelSaliencyNote
                                  : options.show == "change" ? kTuningNote
                                  : shows_saliency(options)  ? kSaliencyNote
                                                             : kAttentionNote;
    print_note(note, style_of(options).columns);
  }
  return 0;
}

}  // namespace

Command add_inspect(CLI::App& app) {
  CLI::App* parser =
      app.add_subcommand("inspect", "Draw attention, saliency and entropy for one input");
  auto options = std::make_shared<InspectOptions>();
  const std::vector<std::string> shown = {"attention",  "rollout", "flow", "gradient",
                                          "integrated", "entropy", "lens", "masked",
                                          "labels",     "change"};
  parser->add_option("model", options->model, "model directory")
      ->required()
      ->type_name("DIRECTORY");
  add_adapters(*parser, options->adapters);
  CLI::Option* source =
      parser
          ->add_option(
              "source", options->source,
              "text to read, or prompt of a language model (default: a line of standard input)")
          ->type_name("TEXT");
  CLI::Option* target =
      parser
          ->add_option("--target", options->target, "output to explain (default: the model's own)")
          ->type_name("TEXT");
  parser
      ->add_option("--input", options->inputs,
                   "text of another sequence, for a model that reads several")
      ->type_name("NAME=TEXT")
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text.find('=') == text.npos ? "should be NAME=TEXT, not '" + text + "'" : "";
          },
          ""));
  parser
      ->add_option(
          "--show", options->show,
          "attention weights; all layers by rollout or flow; saliency by gradients; entropy of "
          "each head; lens: what each layer would write; masked: what stands at each place, if "
          "hidden; labels: what speaks for each; change: what fine-tuning made of --base")
      ->type_name(choices_text(shown))
      ->check(CLI::IsMember(shown).description(""));
  parser
      ->add_option("--base", options->base,
                   "model that this one was fine-tuned from, to compare with")
      ->type_name("DIRECTORY");
  parser
      ->add_option("--cell", options->cell,
                   "the arithmetic of one weight: query, key, score, softmax and value; counted "
                   "from 0")
      ->type_name("LAYER:HEAD:QUERY:KEY");
  parser
      ->add_option("--knock-out", options->knocked_out,
                   "a head, or all heads of a layer, that adds nothing; may be repeated")
      ->type_name("LAYER[:HEAD]")
      ->allow_extra_args(false);
  parser->add_option("--from", options->from, "sequence that looks (default: the output)")
      ->type_name("SEQUENCE");
  parser->add_option("--to", options->to, "sequence that is looked at (default: the input)")
      ->type_name("SEQUENCE");
  parser->add_flag("--all", options->all, "a map of each layer, instead of their mean");
  parser
      ->add_option("--layer", options->layer,
                   "one layer, such as decoder.1.cross (default: the mean of all)")
      ->type_name("NAME");
  parser->add_option("--head", options->head, "a number, mean, max or all (mean)")
      ->type_name("HEAD")
      ->check(CLI::Validator([](const std::string& text) { return check_head_text(text); }, ""));
  parser
      ->add_option("--top", options->top,
                   "candidates of each place for lens and masked (5); labels at most (10)")
      ->type_name("N")
      ->check(whole_number(1, kMostCandidates));
  CLI::Option* by =
      parser
          ->add_option("--by", options->by,
                       "how --show labels weighs tokens: gradient x input, integrated gradients, "
                       "or reading the text without each of them (gradient)")
          ->type_name(choices_text(label_method_names()))
          ->check(CLI::IsMember(label_method_names()).description(""));
  parser->add_option("--out", options->out, "file; its ending sets the format")->type_name("FILE");
  parser->add_option("--format", options->format, "format (default: by the ending of --out)")
      ->type_name(choices_text(picture_format_names()));
  CLI::Option* columns = parser
                             ->add_option("--columns", options->columns,
                                          "width of the terminal (default: that of the window)")
                             ->type_name("N");
  CLI::Option* colours =
      parser->add_option("--colours", options->colours, "colours of the terminal (auto)")
          ->type_name(choices_text({"auto", "none", "256", "24bit"}))
          ->check(CLI::IsMember({"auto", "none", "256", "24bit"}).description(""));
  options->search.add_all_but("n_best", *parser, SearchConfig());  // one output is drawn
  hide_in_help(*parser, {"--columns", "--colours", "--format", "--by", "--top"});
  parser->footer(
      "Examples:\n"
      "  attend inspect model 'ein kleines Haus'\n"
      "  attend inspect model 'ein Haus' --target 'a house' --head all --out heads.svg\n"
      "  attend inspect pairs 'he runs' --input 'pair=he moves' --from text --to pair\n"
      "  attend inspect base 'the film is good' --show masked\n"
      "  attend inspect critic 'the film is good' --base base --show change\n" +
      std::string(kAttentionNote));
  parser->final_callback([=] {
    options->source_given = source->count() > 0;
    options->target_given = target->count() > 0;
    options->by_given = by->count() > 0;
    options->style_given = columns->count() + colours->count() > 0;
    check_options(*options);
  });
  return {parser, [options] { return run_inspect(*options); }};
}

}  // namespace attend::cli
