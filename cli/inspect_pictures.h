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
  std::filesystem::path model, out;
  std::vector<std::filesystem::path> adapters;
  std::string source, target, layer, from, to, head = "mean", show = "attention", format, cell;
  std::vector<std::string> inputs;       // "NAME=TEXT"
  std::vector<std::string> knocked_out;  // "LAYER" or "LAYER:HEAD"
  bool source_given = false, target_given = false, style_given = false;
  size_t columns = 0;
  std::string colours = "auto";
  ConfigFlags search;
};

TerminalStyle style_of(const InspectOptions& options);

// The picture, or the numbers, of what --show or --cell names.
std::string drawn(const InspectOptions& options, const TextModel& model, const Trace& trace,
                  PictureFormat format);

}  // namespace attend::cli
