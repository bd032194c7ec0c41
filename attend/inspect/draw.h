// Heat maps in every format.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attend/inspect/terminal_map.h"

namespace attend {

// The formats of pictures and values.
enum class PictureFormat { kTerminal, kSvg, kPng, kHtml, kJson, kNpy, kMoses };
PictureFormat picture_format_from_name(std::string_view name);  // ConfigError with the choices
std::vector<std::string> picture_format_names();                // of all formats

// By the extension of a file, "a.svg" or "a.SVG"; kTerminal for an empty path. Throws ConfigError
// that lists the choices.
PictureFormat format_of_file(const std::filesystem::path& file);

// The contents of a file, or text for a terminal. NPY is one array [maps, rows, columns] and needs
// maps of one size. Moses links join each row to its largest column, without start and end, one
// line per map, preceded by its title if there are several.
std::string draw_maps(std::span<const HeatMap> maps, PictureFormat format,
                      const TerminalStyle& style = {});

}  // namespace attend
