// One heat map as lines of text that can stand beside those of another. Not for use outside
// inspect/.
#pragma once

#include <string>
#include <vector>

#include "attend/inspect/terminal_map.h"

namespace attend {

struct TerminalBlock {
  std::vector<std::string> lines;
  std::vector<size_t> used;  // columns that each line takes
  size_t width = 0;          // the most of them

  void add(std::string line, size_t columns);  // columns: what it takes
  void add(std::string line);                  // plain text, whose columns are counted
};

// With labels; past the window's width in bands, or pooled.
TerminalBlock labelled_block(const HeatMap& map, const TerminalStyle& style);

// Whether a labelled block of so many columns shows every cell two columns wide, in one band.
bool fits_labelled(const HeatMap& map, size_t columns);

// Without labels, pooled to the window's width; the title, within `title` columns, above.
TerminalBlock small_block(const HeatMap& map, const TerminalStyle& style, size_t title);

// How cells above and below zero look, after `before` where it is not empty: in one line if there
// is room.
void add_sign_key(TerminalBlock& block, const std::string& before, const TerminalStyle& style);

}  // namespace attend
