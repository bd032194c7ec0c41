// One run of the explorer. Not for use outside serve/.
#pragma once

#include <memory>
#include <optional>

#include "attend/attention/intervention.h"
#include "attend/serve/explorer.h"
#include "attend/serve/run_events.h"

namespace attend {

struct ExplorerRun {
  size_t model = 0;
  std::vector<HeadsOf> knocked_out;
  Trace trace;
  std::string text;  // what was written
  std::shared_ptr<const BeamTree> tree;
  nlohmann::ordered_json done = {};  // the last event
};

// While it lives, this thread's passes have the heads of a run knocked out.
class Without {
 public:
  explicit Without(std::span<const HeadsOf> heads) {
    for (const HeadsOf& each : heads) change_.knock_out(each);
  }
  explicit Without(const ExplorerRun& run) : Without(run.knocked_out) {}

 private:
  Intervention change_;
};

// Lets the model write or label, or forces it to what is given; reports what was read and each
// step. None where `emit` returned false. Throws Error that a person can act on.
std::optional<ExplorerRun> run_request(const TextModel& model, const RunRequest& request,
                                       const EmitJson& emit);

}  // namespace attend
