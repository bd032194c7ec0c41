// Heat maps in any form there is.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attend/inspect/terminal_map.h"

namespace attend {

enum class PictureFormat { kTerminal, kSvg, kPng, kHtml, kJson, kNpy, kMoses };
PictureFormat picture_format_from_name(std::string_view name);  // ConfigError with the choices
std::vector<std::string> picture_format_names();

// By the ending of a file's name, "a.svg" or "a.SVG"; the terminal's where there is no file.
// ConfigError with the choices for an ending that is none.
PictureFormat format_of_file(const std::filesystem::path& file);

// The content of a file, or text for a terminal. NPY is one array [maps, rows, columns] of maps of
// one size; Moses links are those of each row to its largest column, starts and ends left out, a
// line a map, after its title and ||| where there are several.
std::string draw_maps(std::span<const HeatMap> maps, PictureFormat format,
                      const TerminalStyle& style = {});

}  // namespace attend
