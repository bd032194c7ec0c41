// The cells of a heat map as characters and escape sequences, a line at a time. Not for use outside
// inspect/.
#pragma once

#include <string>

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

// The cells of a map with signs from weak to strong, each one column wide: "░▒▓█" and ".-=#".
inline constexpr size_t kKeyCells = 4;
struct KeyCells {
  std::string above, below;  // zero
};
KeyCells key_cells(const TerminalStyle& style);

}  // namespace attend
