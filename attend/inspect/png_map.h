// Heat maps as PNG.
#pragma once

#include <span>
#include <string>

#include "attend/inspect/heat_map.h"

namespace attend {

// The SVG of draw_svg() rendered by librsvg, which is loaded on first use, at `scale` pixels per
// unit, or one if it is large. Throws IoError if librsvg is not installed.
std::string draw_png(std::span<const HeatMap> maps, double scale = 2.0);

// Any SVG as PNG.
std::string png_of_svg(const std::string& svg, double scale = 2.0);

}  // namespace attend
