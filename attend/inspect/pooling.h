// Heat maps reduced in size.
#pragma once

#include "attend/inspect/heat_map.h"

namespace attend {

// The map with blocks of up to rows x columns cells pooled into one: the value farthest from zero.
// The labels of pooled cells are their numbers, from 1: "33-64".
HeatMap pooled(const HeatMap& map, size_t rows, size_t columns);

}  // namespace attend
