// Heat maps in a terminal.
#pragma once

#include <span>
#include <string>

#include "attend/inspect/colour_scale.h"
#include "attend/inspect/heat_map.h"

namespace attend {

enum class ColourDepth { kNone, k256, k24Bit };

struct TerminalStyle {
  size_t columns = 80;  // of the window; lines are not longer, down to 20
  ColourDepth colours = ColourDepth::kNone;
  Theme theme = Theme::kDark;  // what the colours start from
};

// Lines of text, each with its end. One map has its labels beside it: above the columns, turned
// upright where they are longer than a cell is wide. A cell gets as narrow as the window asks; one
// column wide, with colours, it is half a line high ("▀"), and the labels of every second row stand
// to the right. What is still too wide is cut into bands, one below the other, or, past four of
// them, pooled: a cell is then the largest of several, and a line says so.
// Several maps stand side by side, with labels if all fit in one row, else small and without; their
// labels are listed below where all share them. What cells above and below zero look like is said
// where a map has a sign.
std::string draw_terminal(std::span<const HeatMap> maps, const TerminalStyle& style);

}  // namespace attend
