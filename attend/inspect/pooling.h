// Heat maps made smaller.
#pragma once

#include "attend/inspect/heat_map.h"

namespace attend {

// The same map where a cell stands for up to rows x columns of them: the value that is farthest
// from zero. Labels of what was pooled are its numbers, from 1: "33-64".
HeatMap pooled(const HeatMap& map, size_t rows, size_t columns);

}  // namespace attend
