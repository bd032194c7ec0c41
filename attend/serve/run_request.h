// What the page asks for when it starts a run. Not for use outside serve/.
#pragma once

#include "attend/attention/intervention.h"
#include "attend/inspect/trace.h"

namespace attend {

struct RunRequest {
  size_t number = 0;  // of the run; not the page's
  size_t model = 0;
  TraceTexts texts;                   // of the sequences that the model reads
  std::string start;                  // what the output begins with, as text
  std::vector<int32_t> start_ids;     // or as tokens; not both
  std::optional<std::string> output;  // all of it; none: what the model writes
  size_t beam = 1, top = 5;
  std::vector<HeadsOf> knocked_out;  // that add nothing

  // Throws ConfigError or DataError that a person can act on.
  static RunRequest parse(std::string_view json);
};

}  // namespace attend
