// What the page asks for when it starts a run. Not for use outside serve/.
#pragma once

#include "attend/attention/intervention.h"
#include "attend/inspect/trace.h"

namespace attend {

struct RunRequest {
  size_t number = 0;  // of the run; not the page's
  size_t model = 0;
  TraceTexts texts;                   // of the sequences that the model reads
  std::vector<int32_t> start_ids;     // tokens that the output begins with
  std::string start;                  // a text that it goes on with, or begins with
  std::optional<std::string> output;  // all of it; none: what the model writes
  size_t beam = 1, top = 5;
  std::vector<HeadsOf> knocked_out;  // that add nothing
  std::optional<size_t> most;        // tokens to write after the beginning; none: as many as usual
  float temperature = 0.0f;          // of sampling; 0: search
  uint64_t seed = 1;                 // of sampling

  // Throws ConfigError or DataError that a person can act on.
  static RunRequest parse(std::string_view json);
};

}  // namespace attend
