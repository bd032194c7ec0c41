// The cells of a heat map as characters and escape sequences, a line at a time. Not for use outside
// inspect/.
#pragma once

#include <string>
#include <string_view>

#include "attend/inspect/terminal_map.h"

namespace attend {

// Which cells a line shows, and how.
struct CellLine {
  size_t row = 0;               // with `halves` also the next one, if there is one
  size_t begin = 0, count = 0;  // columns of the map
  size_t width = 2;             // columns of the terminal that a cell takes
  bool halves = false;          // two rows in a line; needs colours
};

// Shades without colours (negative values: ". - = #"); else colours, which are off at its end.
std::string draw_cells(const HeatMap& map, const CellLine& line, const TerminalStyle& style);

// The escape sequence that sets the background to a colour, and text on it to black or white;
// nothing without colours. kColoursOff ends it.
std::string background(Rgb colour, ColourDepth depth);
inline constexpr std::string_view kColoursOff = "\x1b[0m";

// How much of a cell is filled for a level, where there are no colours: " ", "░", "▒", "▓", "█".
std::string_view shade_of(float level);

// The cells of a map with signs from weak to strong, each one column wide: "░▒▓█" and ".-=#".
inline constexpr size_t kKeyCells = 4;
struct KeyCells {
  std::string above, below;  // zero
};
KeyCells key_cells(const TerminalStyle& style);

}  // namespace attend
