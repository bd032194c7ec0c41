// Heat maps as SVG.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attend/inspect/heat_map.h"

namespace attend {

// A complete, self-contained file, light or dark as the reader's system. Up to 4096 cells, or as
// many in a grid, are rectangles with a tooltip each (row, column, value); a larger map is an
// image.
std::string draw_svg(std::span<const HeatMap> maps);

// Whether maps are drawn as images; and the same file without those images, for a caller that
// paints them itself.
bool drawn_as_images(std::span<const HeatMap> maps);
std::string draw_svg_frame(std::span<const HeatMap> maps);

// Text escaped for use between tags or in an attribute.
std::string xml_escaped(std::string_view text);

// The parts of the file, for use inside a page.
struct SvgParts {
  std::string style;  // the contents of <style>
  std::string body;   // <svg> ... </svg>, without a style
};
struct SvgOptions {
  bool tooltips = true;
  bool focus = false;  // maps can get the keyboard focus
  bool images = true;  // draw images; otherwise nothing in their place
};
SvgParts svg_parts(std::span<const HeatMap> maps, const SvgOptions& options);

}  // namespace attend
