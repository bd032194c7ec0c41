// Pictures of points as SVG and as a page. Not for use outside inspect/.
#pragma once

#include <string>

#include "attend/inspect/point_map.h"

namespace attend {

// Both are whole files that need nothing else, light or dark as the reader's system is. The first
// labels have a colour and a shape each; the points of the others are grey.
std::string points_svg(const PointMap& map);
std::string points_html(const PointMap& map);

}  // namespace attend
