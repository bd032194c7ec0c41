// Heat maps as SVG.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attend/inspect/heat_map.h"

namespace attend {

// A whole file: valid XML that needs nothing else, light or dark as the reader's system is. Cells
// are rectangles with a tooltip each (row, column, value) up to 4096 of them, or as many in a grid;
// past that a map is an image.
std::string draw_svg(std::span<const HeatMap> maps);

// Whether maps are images there; and the same file without them, for who paints them himself.
bool drawn_as_images(std::span<const HeatMap> maps);
std::string draw_svg_frame(std::span<const HeatMap> maps);

// Visible text (text_width.h) as it may stand between tags or in an attribute.
std::string xml_escaped(std::string_view text);

// The parts, for a page around them.
struct SvgParts {
  std::string style;  // the content of <style>
  std::string body;   // <svg> ... </svg>, without a style
};
struct SvgOptions {
  bool tooltips = true;
  bool focus = false;  // maps can be reached with the keyboard
  bool images = true;  // or nothing in their place
};
SvgParts svg_parts(std::span<const HeatMap> maps, const SvgOptions& options);

}  // namespace attend
