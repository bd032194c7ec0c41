// Options of `attend inspect` that do not go together.
#include <fmt/format.h>

#include "attend/base/error.h"
#include "cli/inspect_pictures.h"
#include "cli/search_flags.h"

namespace attend::cli {
namespace {

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
      "--out", fmt::format("there is no directory {}; create it first", directory.string()));
}

// What is shown, where that has no word links.
std::string shown_without_links(const InspectOptions& options) {
  if (options.show == "lens") return "the lens";
  for (const char* name : {"entropy", "masked", "labels", "change"}) {
    if (options.show == name) return name;
  }
  return "";
}

}  // namespace

bool shows_saliency(const InspectOptions& options) {
  return options.show == "gradient" || options.show == "integrated" || options.show == "labels";
}

PictureFormat format_of(const InspectOptions& options) {
  const bool by_ending = options.format.empty();
  try {
    return by_ending ? format_of_file(options.out) : picture_format_from_name(options.format);
  } catch (const ConfigError& error) {
    if (!by_ending) throw CLI::ValidationError("--format", error.what());
    throw CLI::ValidationError("--out", fmt::format("{}; or add --format", error.what()));
  }
}

void check_options(const InspectOptions& options) {
  const auto refuse = [&](bool given, const char* option, const char* why) {
    if (given) throw CLI::ValidationError(option, fmt::format("{}; leave out {}", why, option));
  };
  check_out(options.out);
  const PictureFormat format = format_of(options);
  const bool head = options.head != "mean", layer = !options.layer.empty();
  // With both of them, a layer is cut to what one text sees of another.
  if (layer && options.from.empty() != options.to.empty()) {
    throw CLI::ExcludesError(options.to.empty() ? "--from" : "--to", "--layer");
  }
  if (options.show == "rollout" || options.show == "flow") {
    refuse(layer, "--layer", "rollout and flow combine all layers");
    refuse(head, "--head", "rollout and flow combine all heads");
  } else if (shows_saliency(options)) {
    const char* const why = "gradients go through the whole model, from what is written";
    refuse(!options.from.empty(), "--from", why);
    refuse(layer, "--layer", why);
    refuse(head, "--head", why);
  } else if (options.show == "lens" || options.show == "masked") {
    const char* const why = options.show == "lens"
                                ? "the lens reads the rows after each layer, not attention"
                                : "masked tokens are predicted from the last layer's rows";
    refuse(layer, "--layer", why);
    refuse(head, "--head", why);
    refuse(!options.from.empty(), "--from", why);
    refuse(!options.to.empty(), "--to", why);
  } else if (options.show == "entropy") {
    refuse(head, "--head", "entropy is shown for every head");
  }
  const bool with_base = options.show == "attention" || options.show == "change";
  refuse(!options.base.empty() && !with_base, "--base",
         "another model stands beside attention and --show change");
  refuse(!options.base.empty() && !options.cell.empty(), "--base", "a cell is of one model");
  if (options.show == "change") {
    const char* const why = "vectors of all tokens are compared, after every layer";
    refuse(layer, "--layer", why);
    refuse(head, "--head", why);
    refuse(!options.from.empty(), "--from", why);
    refuse(!options.to.empty(), "--to", why);
    if (options.base.empty()) {
      throw CLI::ValidationError("--show",
                                 "change is from a base to the model; add --base DIRECTORY");
    }
  }
  if (!options.base.empty() && options.head == "all") {
    throw CLI::ValidationError("--head", "one head, mean or max is compared with that of the base");
  }
  const bool is_block = !options.from.empty() || !options.to.empty();
  refuse(!options.base.empty() && is_block, "--from, --to", "whole maps are compared");
  const std::string without_links = shown_without_links(options);
  if (format == PictureFormat::kMoses && !without_links.empty()) {
    throw CLI::ValidationError("--show",
                               without_links + " has no word links; choose another format");
  }
  const bool has_top =
      options.show == "lens" || options.show == "masked" || options.show == "labels";
  refuse(options.top > 0 && !has_top, "--top", "only lens, masked and labels have candidates");
  refuse(options.by_given && options.show != "labels", "--by", "is for --show labels");
  refuse(options.all && (layer || options.show != "attention"), "--all",
         "it shows the attention of each layer");
  if (!options.cell.empty()) {
    refuse(options.all, "--all", "a cell is of one layer");
    const char* const why = "a cell is of one layer and one head, which --cell names";
    refuse(options.show != "attention", "--show", why);
    refuse(layer, "--layer", why);
    refuse(head, "--head", why);
    refuse(!options.from.empty(), "--from", why);
    refuse(!options.to.empty(), "--to", why);
    if (format != PictureFormat::kTerminal && format != PictureFormat::kJson) {
      throw CLI::ValidationError("--cell", "the arithmetic of a cell is text or JSON");
    }
  }
  if (options.target_given && options.search.has_any()) {
    throw CLI::ValidationError(
        "--target", "nothing is searched when the output is given; leave out the search options");
  }
  check_search_flags(options.search);
  refuse(options.style_given && options.format.empty() && format != PictureFormat::kTerminal,
         "--columns, --colours", "are for the terminal, not for a file");
}

}  // namespace attend::cli
