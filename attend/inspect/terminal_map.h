// Heat maps in a terminal.
#pragma once

#include <span>
#include <string>

#include "attend/inspect/colour_scale.h"
#include "attend/inspect/heat_map.h"

namespace attend {

// What a terminal supports.
enum class ColourDepth { kNone, k256, k24Bit };

struct TerminalStyle {
  size_t columns = 80;  // of the window, which lines do not exceed; at least 20
  ColourDepth colours = ColourDepth::kNone;
  Theme theme = Theme::kDark;  // of the terminal's background
};

// Lines of text, each with a line feed. One map has labels: those of columns are vertical if they
// are wider than a cell. Cells get as narrow as the window needs; with colours, a cell one column
// wide is half a line high ("▀"), and the labels of every second row are on the right. A map that
// is still too wide is split into bands or, past four bands, pooled, which a line says. Several
// maps are side by side, with labels if all fit in one row, otherwise small and without; labels
// that all maps share are listed below. If a map has signs, a legend shows both colours.
std::string draw_terminal(std::span<const HeatMap> maps, const TerminalStyle& style);

}  // namespace attend
