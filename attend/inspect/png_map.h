// Heat maps as PNG.
#pragma once

#include <span>
#include <string>

#include "attend/inspect/heat_map.h"

namespace attend {

// The SVG of draw_svg(), `scale` pixels for each of its units, or one where it is large, drawn by
// librsvg, which is loaded when it is first needed: labels of any script come out right. Throws
// IoError where it is not installed.
std::string draw_png(std::span<const HeatMap> maps, double scale = 2.0);

// The pixels of any SVG.
std::string png_of_svg(const std::string& svg, double scale = 2.0);

}  // namespace attend
