// `attend inspect`: what a model looks at, as a picture or as numbers.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/data/lines.h"
#include "attend/inspect/attention_pictures.h"
#include "attend/inspect/draw.h"
#include "attend/inspect/overview.h"
#include "attend/nn/freeze.h"
#include "cli/commands.h"
#include "cli/config_flags.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

struct Options {
  std::filesystem::path model, out;
  std::string source, target, layer, head = "mean", part, show = "attention", format;
  bool source_given = false, target_given = false;
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

std::vector<HeatMap> attention_maps(const Options& options, const TextModel& model,
                                    const Reading& reading) {
  std::vector<HeatMap> maps;
  for (const AttentionLayer& layer : chosen_layers(options, *model.model)) {
    if (options.head != "all") {
      maps.push_back(
          attention_picture(model, reading, layer.name, HeadChoice::parse(options.head)));
      continue;
    }
    for (HeatMap& map : head_pictures(model, reading, layer.name)) maps.push_back(std::move(map));
  }
  share_scale(maps);
  return maps;
}

// A line a layer, or JSON.
std::string entropy_text(const Options& options, const TextModel& model, const Reading& reading) {
  const std::vector<AttentionLayer> layers = chosen_layers(options, *model.model);
  const auto all = entropies(model, reading, layers);
  const bool as_json = options.format == "json" || options.out.extension() == ".json";
  nlohmann::ordered_json json;
  std::string text;
  for (size_t i = 0; i < layers.size(); ++i) {
    json[layers[i].name] = all[i];
    text += fmt::format("{:<20}", layers[i].name);
    for (const float entropy : all[i]) text += fmt::format(" {:6.3f}", entropy);
    text += "\n";
  }
  return as_json ? json.dump() + "\n" : text;
}

// --part, or what the model has of it.
AttentionPart chosen_part(const Options& options, const Seq2Seq& model) {
  if (!options.part.empty()) return attention_part_from_name(options.part);
  const bool cross = !layers_of(model.attention_layers(), AttentionPart::kCross).empty();
  return cross ? AttentionPart::kCross : AttentionPart::kEncoder;
}

std::vector<HeatMap> maps_of(const Options& options, const TextModel& model,
                             const Reading& reading) {
  if (options.show == "attention") return attention_maps(options, model, reading);
  if (options.show == "rollout" || options.show == "flow") {
    return {graph_picture(model, reading,
                          options.show == "flow" ? GraphMethod::kFlow : GraphMethod::kRollout,
                          chosen_part(options, *model.model))};
  }
  return {saliency_picture(model, reading, {saliency_method_from_name(options.show)})};
}

Reading reading_of(const Options& options, const TextModel& model) {
  std::string source = options.source;
  LineReader input("-");
  if (!options.source_given && input.next()) source = input.line();
  if (options.target_given) return given_reading(model, source, options.target);
  SearchConfig search;
  options.search.apply(search);
  return written_reading(model, source, search);
}

int run_inspect(const Options& options) {
  const TextModel model = TextModel::load(options.model);
  freeze(*model.model);
  const Reading reading = reading_of(options, model);
  if (options.show == "entropy") {
    const std::string text = entropy_text(options, model, reading);
    options.out.empty() ? fmt::print("{}", text) : replace_file(options.out, text);
    return 0;
  }
  const std::vector<HeatMap> maps = maps_of(options, model, reading);
  const PictureFormat format = options.format.empty() ? format_of_file(options.out)
                                                      : picture_format_from_name(options.format);
  const std::string picture = draw(maps, format, style_of(options));
  if (!options.out.empty()) {
    replace_file(options.out, picture);
    return 0;
  }
  if (format == PictureFormat::kPng && isatty(STDOUT_FILENO) != 0) {
    throw ConfigError("inspect: a PNG cannot be shown in a terminal; add --out FILE.png");
  }
  if (format == PictureFormat::kTerminal && !options.target_given) {
    fmt::print("{}\n", model.target->decode(reading.target));
  }
  std::fwrite(picture.data(), 1, picture.size(), stdout);
  if (format == PictureFormat::kTerminal && isatty(STDOUT_FILENO) != 0) {
    fmt::print(stderr, "{}\n", kAttentionNote);
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
  parser->add_option("--part", options->part, "whose attention (default: cross)")
      ->type_name(choices_text({"encoder", "decoder", "cross"}))
      ->check(CLI::IsMember({"encoder", "decoder", "cross"}).description(""));
  parser->add_option("--layer", options->layer, "one layer, such as decoder.1.cross (default: all)")
      ->type_name("NAME");
  parser->add_option("--head", options->head, "a number, mean, max or all (mean)")
      ->type_name("HEAD");
  parser->add_option("--out", options->out, "file; its ending says the format")->type_name("FILE");
  parser
      ->add_option("--format", options->format, "how it is drawn (default: by the ending of --out)")
      ->type_name(choices_text(picture_format_names()));
  parser->add_option("--columns", options->columns, "of the terminal (default: the window's)")
      ->type_name("N");
  parser->add_option("--colours", options->colours, "of the terminal (auto)")
      ->type_name(choices_text({"auto", "none", "256", "24bit"}))
      ->check(CLI::IsMember({"auto", "none", "256", "24bit"}).description(""));
  options->search.add(*parser, SearchConfig());
  parser->footer(
      "Examples:\n"
      "  attend inspect model 'ein kleines Haus'\n"
      "  attend inspect model 'ein Haus' --target 'a house' --head all --out heads.svg\n"
      "  attend inspect model 'ein Haus' --show integrated --out why.html\n" +
      std::string(kAttentionNote));
  parser->final_callback([options, source, target] {
    options->source_given = source->count() > 0;
    options->target_given = target->count() > 0;
  });
  return {parser, [options] { return run_inspect(*options); }};
}

}  // namespace attend::cli
