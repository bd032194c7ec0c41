// Heat maps as an HTML page.
#pragma once

#include <span>
#include <string>

#include "attend/inspect/heat_map.h"

namespace attend {

// A self-contained page, restricted to its own script by a Content-Security-Policy: the maps of
// draw_svg(), and the row, column and value that the mouse, a finger or the arrow keys point at, to
// about 4 digits. Light or dark, as the reader's system.
std::string draw_html(std::span<const HeatMap> maps);

}  // namespace attend
