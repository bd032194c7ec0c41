// What `attend inspect` draws, once its options are known.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attend/inspect/draw.h"
#include "attend/inspect/trace.h"
#include "cli/config_flags.h"

namespace attend::cli {

struct InspectOptions {
  std::filesystem::path model, out, base;
  std::vector<std::filesystem::path> adapters;
  std::string source, target, layer, from, to, head = "mean", show = "attention", format, cell,
                                               by = "gradient";
  std::vector<std::string> inputs;       // "NAME=TEXT"
  std::vector<std::string> knocked_out;  // "LAYER" or "LAYER:HEAD"
  bool source_given = false, target_given = false, style_given = false, by_given = false;
  bool all = false;  // layers, each a map
  size_t columns = 0;
  size_t top = 0;  // candidates of each place, or labels; 0: as is usual
  std::string colours = "auto";
  ConfigFlags search;
};

TerminalStyle style_of(const InspectOptions& options);

// By --format, or the ending of --out. Throws CLI::ValidationError.
PictureFormat format_of(const InspectOptions& options);
// Whether tokens are weighed by gradients, or in their place.
bool shows_saliency(const InspectOptions& options);
// What the parser cannot check by itself: a file that cannot be written, and options that would do
// nothing. Throws CLI::ParseError.
void check_options(const InspectOptions& options);

// The picture, or the numbers, of what --show or --cell names.
std::string drawn(const InspectOptions& options, const TextModel& model, const Trace& trace,
                  PictureFormat format);

// The same beside the model that --base names.
std::string drawn_beside(const InspectOptions& options, const TextModel& base,
                         const TextModel& model, const Trace& trace, PictureFormat format);

}  // namespace attend::cli
