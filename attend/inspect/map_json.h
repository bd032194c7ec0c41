// Heat maps as JSON.
#pragma once

#include <span>
#include <string>

#include "attend/inspect/heat_map.h"

namespace attend {

// One map is an object, `{"title", "rows": [labels], "columns": [labels], "values": [[row], ...]}`;
// any other number is an array of objects. Values have enough digits to read back the same float32.
// NaN and infinity are null; invalid UTF-8 is U+FFFD.
std::string maps_json(std::span<const HeatMap> maps);

}  // namespace attend
