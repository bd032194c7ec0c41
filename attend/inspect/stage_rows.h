// The rows between the layers of a model, from one pass. Not for use outside inspect/.
#pragma once

#include <string>
#include <vector>

#include "attend/inspect/trace.h"

namespace attend {

struct Stage {
  std::string name;  // "embedding", then each layer, such as "layers.0"
  Tensor rows;       // [positions, width]
};

// In the order of computation; of every sequence whose layers a RowTap sees. An installed
// Intervention is applied.
std::vector<Stage> stages_of(const TextModel& model, const Trace& trace);

}  // namespace attend
