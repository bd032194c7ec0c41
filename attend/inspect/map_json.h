// Heat maps as JSON.
#pragma once

#include <span>
#include <string>

#include "attend/inspect/heat_map.h"

namespace attend {

// One map is an object, {"title", "rows": [labels], "columns": [labels], "values": [[row], ...]};
// any other number of them an array of such objects. Values have as many digits as it takes to read
// the same fp32 again; what is no finite number is null, and what is no UTF-8 U+FFFD.
std::string maps_json(std::span<const HeatMap> maps);

}  // namespace attend
