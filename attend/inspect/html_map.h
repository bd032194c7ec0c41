// Heat maps as a page.
#pragma once

#include <span>
#include <string>

#include "attend/inspect/heat_map.h"

namespace attend {

// One file that needs nothing else and may run nothing but its own script (a
// Content-Security-Policy says so): the maps of draw_svg, and beside them the row, the column and
// the value that the mouse, a finger or the arrow keys point at, to about 4 digits. Light or dark
// as the reader's system is.
std::string draw_html(std::span<const HeatMap> maps);

}  // namespace attend
