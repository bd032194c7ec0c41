// How fast the model of a run trains on this machine.
#pragma once

#include <optional>

#include "attend/io/model_directory.h"

namespace attend {

// Of an update on this machine.
struct TrainingSpeed {
  double tokens = 0;   // of an update, of all columns
  double seconds = 0;  // for it
};

// A trial of at least so many seconds, with the settings and the text that training has left in a
// model directory; nothing there changes. None where it left none, or trained an adapter. Throws
// Error for settings or text that are damaged.
std::optional<TrainingSpeed> training_speed(const ModelDirectory& directory, double at_least);

}  // namespace attend
