// Where everything stands in a picture of heat maps, in pixels from its top left. Writers of SVG
// and of pixels draw the same layout. Not for use outside inspect/.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/inspect/heat_map.h"

namespace attend {

enum class Anchor { kStart, kMiddle, kEnd };

struct PlacedText {
  double x = 0, y = 0;  // of the anchor, on the base line
  std::string text;     // visible, cut to its room
  double size = 12;     // of the font
  Anchor anchor = Anchor::kStart;
  int turned = 0;    // degrees, against the clock: 0, 45 or 90
  size_t index = 0;  // which row or column it names
};

// One map. Cell (row, column) has its top left at (x + column * cell, y + row * cell).
struct PlacedMap {
  double x = 0, y = 0;
  double cell = 22;  // from one to the next; `gap` of it is left free
  double gap = 1;
  size_t rows = 0, columns = 0;
  PlacedText title;                                   // empty text: none
  std::vector<PlacedText> row_labels, column_labels;  // those that have room
};

// A bar of the colours, with the numbers at its ends.
struct Legend {
  double x = 0, y = 0, width = 0, height = 0;
  bool has_sign = false;
  std::vector<PlacedText> numbers;
};

struct Picture {
  double width = 0, height = 0;
  std::vector<PlacedMap> maps;
  Legend legend;  // of the first map; width 0: none
};

// One map, or a grid of them from left to right and from the top. Checks them.
Picture lay_out(std::span<const HeatMap> maps);

}  // namespace attend
