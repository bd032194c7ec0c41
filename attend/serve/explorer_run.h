// One run of the explorer. Not for use outside serve/.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/inspect/beam_tree.h"
#include "attend/serve/explorer.h"

namespace attend {

struct ExplorerRun {
  size_t model = 0;
  Reading reading;
  std::string text;
  std::shared_ptr<const BeamTree> tree;
  nlohmann::ordered_json done = {};  // the last event
};

// What the page asks for. Throws ConfigError or DataError that a person can act on.
struct RunRequest {
  size_t number = 0;  // of the run; not the page's
  size_t model = 0;
  std::string source;
  std::string start;               // what the output begins with, as text
  std::vector<int32_t> start_ids;  // or as tokens; not both
  std::optional<std::string> target;
  size_t beam = 1, top = 5;

  static RunRequest parse(std::string_view json);
};

// Lets the model write, or forces it to write the target; tells of the source and each step. None
// where `emit` gave false.
using EmitJson = std::function<bool(const nlohmann::ordered_json& event)>;
std::optional<ExplorerRun> written_run(const TextModel& model, const RunRequest& request,
                                       const EmitJson& emit);
std::optional<ExplorerRun> given_run(const TextModel& model, const RunRequest& request,
                                     const EmitJson& emit);

}  // namespace attend
