// Reports of training as lines of JSON: those of log.jsonl, and of `attend train --json`.
#pragma once

#include <string>

#include "attend/train/trainer.h"

namespace attend {

// In the log: a report that was not due.
inline constexpr const char* kEarlyReport = "early";

std::string report_json(const TrainingReport& report);
std::string validation_json(const TrainingReport& report, const ValidationScore& score, bool best,
                            Metric metric);

}  // namespace attend
