// `attend inspect`: what a model looks at, as a picture or as numbers.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/data/lines.h"
#include "attend/decode/line_limit.h"
#include "attend/inspect/attention_pictures.h"
#include "attend/inspect/draw.h"
#include "attend/inspect/overview.h"
#include "attend/inspect/text_width.h"
#include "attend/nn/freeze.h"
#include "cli/commands.h"
#include "cli/config_flags.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/search_flags.h"
#include "cli/terminal.h"
#include "cli/text_input.h"

namespace attend::cli {
namespace {

struct Options {
  std::filesystem::path model, out;
  std::string source, target, layer, head = "mean", part, show = "attention", format;
  bool source_given = false, target_given = false, style_given = false;
  size_t columns = 0;
  std::string colours = "auto";
  ConfigFlags search;
};

TerminalStyle style_of(const Options& options) {
  TerminalStyle style = terminal_style();
  if (options.columns > 0) style.columns = options.columns;
  if (options.colours == "none") style.colours = ColourDepth::kNone;
  if (options.colours == "256") style.colours = ColourDepth::k256;
  if (options.colours == "24bit") style.colours = ColourDepth::k24Bit;
  return style;
}

// The layers that --layer or --part names; else those that look at the source, else all.
std::vector<AttentionLayer> chosen_layers(const Options& options, const Seq2Seq& model) {
  if (!options.layer.empty()) return {attention_layer(model, options.layer)};
  const std::vector<AttentionLayer> all = model.attention_layers();
  if (all.empty()) throw ConfigError("inspect: the model has no attention; try --show gradient");
  if (!options.part.empty()) {
    return attention_layers(model, attention_part_from_name(options.part));
  }
  auto cross = layers_of(all, AttentionPart::kCross);
  return cross.empty() ? all : cross;
}

std::vector<HeatMap> maps_of_layers(const Options& options, const TextModel& model,
                                    const Reading& reading) {
  const std::vector<AttentionLayer> layers = chosen_layers(options, *model.model);
  if (options.head == "all") return head_pictures(model, reading, layers);
  return attention_pictures(model, reading, layers, HeadChoice::parse(options.head));
}

// A line a layer, an object of JSON, or a map.
std::string drawn_entropy(const Options& options, const TextModel& model, const Reading& reading,
                          PictureFormat format) {
  const std::vector<AttentionLayer> layers = chosen_layers(options, *model.model);
  if (format != PictureFormat::kTerminal && format != PictureFormat::kJson) {
    const HeatMap map = entropy_picture(model, reading, layers);
    return draw({&map, 1}, format);
  }
  const auto all = entropies(model, reading, layers);
  nlohmann::ordered_json json;
  std::string text;
  for (size_t i = 0; i < layers.size(); ++i) {
    json[layers[i].name] = all[i];
    text += fmt::format("{:<20}", layers[i].name);
    for (const float entropy : all[i]) text += fmt::format(" {:6.3f}", entropy);
    text += "\n";
  }
  return format == PictureFormat::kJson ? json.dump() + "\n" : text;
}

// --part, or what the model has of it.
AttentionPart chosen_part(const Options& options, const Seq2Seq& model) {
  if (!options.part.empty()) return attention_part_from_name(options.part);
  const bool cross = !layers_of(model.attention_layers(), AttentionPart::kCross).empty();
  return cross ? AttentionPart::kCross : AttentionPart::kEncoder;
}

std::vector<HeatMap> maps_of(const Options& options, const TextModel& model,
                             const Reading& reading) {
  if (options.show == "attention") return maps_of_layers(options, model, reading);
  if (options.show == "rollout" || options.show == "flow") {
    return {graph_picture(model, reading,
                          options.show == "flow" ? GraphMethod::kFlow : GraphMethod::kRollout,
                          chosen_part(options, *model.model))};
  }
  LiveLine line;
  return {saliency_picture(
      model, reading, {saliency_method_from_name(options.show)}, [&](const Saliency&, size_t rows) {
        line.show(fmt::format("saliency: {} of {} tokens", rows, reading.target.size() + 1));
        return true;
      })};
}

void check_length(const TextModel& model, std::string_view what, size_t tokens) {
  const LineLimit limit = line_limit(model.config, kMostLineTokens);
  if (limit.allows(tokens)) return;
  if (limit.by_places) limit.fail(fmt::format("inspect: {}", what), tokens);
  throw DataError("inspect: the {} has {} tokens; it is for at most {}, so give a sentence of it",
                  what, tokens, limit.tokens);
}

Reading reading_of(const Options& options, const TextModel& model) {
  std::string source = options.source;
  if (!options.source_given) {
    LineReader input = open_text("-");
    if (input.next()) source = input.line();
    if (input.too_long()) {
      throw DataError("{}:1: the line is over {} bytes; give a sentence of it", input.name(),
                      kLongestLine);
    }
  }
  check_length(model, "source", model.source->encode(source).size());
  if (options.target_given) {
    check_length(model, "target", model.target->encode(options.target).size());
    return given_reading(model, source, options.target);
  }
  SearchConfig search;
  options.search.apply(search);
  return written_reading(model, source, search);
}

PictureFormat format_of(const Options& options) {
  const bool by_ending = options.format.empty();
  try {
    return by_ending ? format_of_file(options.out) : picture_format_from_name(options.format);
  } catch (const ConfigError& error) {
    if (!by_ending) throw CLI::ValidationError("--format", error.what());
    throw CLI::ValidationError("--out", fmt::format("{}; or give --format", error.what()));
  }
}

// Before the model runs, which may take long.
void check_out(const std::filesystem::path& out) {
  if (out.empty()) return;
  std::error_code none;
  if (std::filesystem::is_directory(out, none)) {
    throw CLI::ValidationError(
        "--out", fmt::format("{} is a directory; name a file, such as map.svg", out.string()));
  }
  const auto directory = out.has_parent_path() ? out.parent_path() : ".";
  if (std::filesystem::is_directory(directory, none)) return;
  throw CLI::ValidationError(
      "--out", fmt::format("there is no directory {}; make it first", directory.string()));
}

bool shows_saliency(const Options& options) {
  return options.show == "gradient" || options.show == "integrated";
}

// What the parser cannot say by itself: a file that cannot be, and options that would do nothing.
void check(const Options& options) {
  const auto refuse = [&](bool given, const char* option, const char* why) {
    if (given) throw CLI::ValidationError(option, fmt::format("{}; leave out {}", why, option));
  };
  check_out(options.out);
  const PictureFormat format = format_of(options);
  const bool head = options.head != "mean", layer = !options.layer.empty();
  if (options.show == "rollout" || options.show == "flow") {
    refuse(layer, "--layer", "rollout and flow take all layers together");
    refuse(head, "--head", "rollout and flow take all heads together");
  } else if (shows_saliency(options)) {
    const char* const why = "gradients go through the whole model, from the source to the target";
    refuse(!options.part.empty(), "--part", why);
    refuse(layer, "--layer", why);
    refuse(head, "--head", why);
  } else if (options.show == "entropy") {
    refuse(head, "--head", "entropy is shown of each head");
    if (format == PictureFormat::kMoses) {
      throw CLI::ValidationError("--show", "entropy has no links of words; choose another format");
    }
  }
  if (options.target_given && options.search.has_any()) {
    throw CLI::ValidationError(
        "--target", "where it is given nothing is searched: leave out the options of the search");
  }
  check_search_flags(options.search);
  refuse(options.style_given && options.format.empty() && format != PictureFormat::kTerminal,
         "--columns, --colours", "are of the terminal, not of a file");
}

// "3", "mean", "max" or "all".
std::string check_head_text(const std::string& text) {
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (number || text == "mean" || text == "max" || text == "all") return "";
  return fmt::format("should be a number from 0, mean, max or all, not '{}'", text);
}

void print_note(std::string_view note, size_t columns) {
  for (const std::string& line : wrapped(note, columns)) fmt::print(stderr, "{}\n", line);
}

int run_inspect(const Options& options) {
  const TextModel model = TextModel::load(options.model);
  freeze(*model.model);
  const PictureFormat format = format_of(options);
  if (format == PictureFormat::kPng && options.out.empty() && isatty(STDOUT_FILENO) != 0) {
    throw ConfigError("inspect: a PNG cannot be shown in a terminal; add --out FILE.png");
  }
  const Reading reading = reading_of(options, model);
  const bool entropy = options.show == "entropy";
  const std::string picture =
      entropy ? drawn_entropy(options, model, reading, format)
              : draw(maps_of(options, model, reading), format, style_of(options));
  if (!options.out.empty()) {
    replace_file(options.out, picture);
    return 0;
  }
  if (format == PictureFormat::kTerminal && !options.target_given && !entropy) {
    fmt::print("{}\n", output_text(model.target->decode(reading.target)));
  }
  std::fwrite(picture.data(), 1, picture.size(), stdout);
  if (format == PictureFormat::kTerminal && isatty(STDOUT_FILENO) != 0) {
    print_note(shows_saliency(options) ? kSaliencyNote : kAttentionNote, style_of(options).columns);
  }
  return 0;
}

}  // namespace

Command add_inspect(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("inspect", "Draw what a model looks at");
  auto options = std::make_shared<Options>();
  parser->add_option("model", options->model, "model directory")
      ->required()
      ->type_name("DIRECTORY");
  CLI::Option* source = parser
                            ->add_option("source", options->source,
                                         "text to read (default: a line of standard input)")
                            ->type_name("TEXT");
  CLI::Option* target =
      parser->add_option("--target", options->target, "what is written (default: what it finds)")
          ->type_name("TEXT");
  parser
      ->add_option("--show", options->show,
                   "attention; all layers together by rollout or flow; gradient or integrated "
                   "saliency; entropy of each head")
      ->type_name(
          choices_text({"attention", "rollout", "flow", "gradient", "integrated", "entropy"}))
      ->check(CLI::IsMember({"attention", "rollout", "flow", "gradient", "integrated", "entropy"})
                  .description(""));
  CLI::Option* part =
      parser->add_option("--part", options->part, "whose attention (default: cross)")
          ->type_name(choices_text({"encoder", "decoder", "cross"}))
          ->check(CLI::IsMember({"encoder", "decoder", "cross"}).description(""));
  parser->add_option("--layer", options->layer, "one layer, such as decoder.1.cross (default: all)")
      ->type_name("NAME")
      ->excludes(part);
  parser->add_option("--head", options->head, "a number, mean, max or all (mean)")
      ->type_name("HEAD")
      ->check(CLI::Validator([](const std::string& text) { return check_head_text(text); }, ""));
  parser->add_option("--out", options->out, "file; its ending says the format")->type_name("FILE");
  parser
      ->add_option("--format", options->format, "how it is drawn (default: by the ending of --out)")
      ->type_name(choices_text(picture_format_names()));
  CLI::Option* columns =
      parser->add_option("--columns", options->columns, "of the terminal (default: the window's)")
          ->type_name("N");
  CLI::Option* colours =
      parser->add_option("--colours", options->colours, "of the terminal (auto)")
          ->type_name(choices_text({"auto", "none", "256", "24bit"}))
          ->check(CLI::IsMember({"auto", "none", "256", "24bit"}).description(""));
  options->search.add_all_but("n_best", *parser, SearchConfig());  // one output is drawn
  parser->footer(
      "Examples:\n"
      "  attend inspect model 'ein kleines Haus'\n"
      "  attend inspect model 'ein Haus' --target 'a house' --head all --out heads.svg\n"
      "  attend inspect model 'ein Haus' --show integrated --out why.html\n" +
      std::string(kAttentionNote));
  parser->final_callback([=] {
    options->source_given = source->count() > 0;
    options->target_given = target->count() > 0;
    options->style_given = columns->count() + colours->count() > 0;
    check(*options);
  });
  return {parser, [options] { return run_inspect(*options); }};
}

}  // namespace attend::cli
