// What the explorer's page asks for, as JSON and bytes; HTTP is elsewhere (routes.h). May be called
// from several threads at once. Models compute for one caller at a time, in order; long work yields
// in between. Only runs, saliency, masked tokens and whatever takes one pass (maps, thumbnails,
// cells, the lens) wait for their turn; single passes go first.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/error.h"
#include "attend/io/model_directory.h"
#include "attend/models/text_model.h"

namespace attend {

// A model that is open in the explorer.
struct ExploredModel {
  ModelDirectory directory;
  TextModel model;  // frozen
  bool has_lens = false;
  std::string name = {};                                // that the page shows
  std::vector<std::vector<std::string>> examples = {};  // example_inputs()
};

// What the page opens with, for those who are led through something: a lesson, a demonstration.
struct ExplorerGuide {
  std::string title, text;
  std::vector<std::string> inputs;  // to choose from; the page runs the first
  std::vector<std::string> names;   // of the models, in place of their directories
  // What the page shows at first, as its address has it: {"view", "beam"}.
  std::map<std::string, std::string> state;
};

class TurnLock;

// An input, what was written from it, and the tree of what could have been.
struct ExplorerRun;

// The run or model does not exist.
class NotFound : public DataError {
  using DataError::DataError;
};

// Models open for exploration, and the runs that were started with them.
class Explorer {
 public:
  // Loads the models. Throws Error that names the file that is missing or wrong.
  explicit Explorer(std::span<const std::filesystem::path> models,
                    std::optional<ExplorerGuide> guide = std::nullopt);
  ~Explorer();

  // The answers of the page's interface (docs/seeing.md), as JSON or bytes. Throw NotFound or
  // Error.
  using Parameters = std::map<std::string, std::string>;
  std::string models() const;  // all of them
  // Of a model: the log of its training, its snapshots, and a map of one.
  std::string training(size_t model, const Parameters& parameters) const;
  std::string snapshots(size_t model) const;
  std::string snapshot_map(size_t model, const Parameters& parameters) const;

  // Receives one line of JSON; returns false if nobody listens any more.
  using Emit = std::function<bool(const std::string& line)>;
  // Starts a run and reports its events; an Error is an event too.
  void start_run(std::string_view request, const Emit& emit);

  // Vectors of texts, or of words, as points of a plane (point_request.h); reports how far it is,
  // then the points, or an Error.
  void points(std::string_view request, const Emit& emit) const;

  // A run that was started, and what it shows: JSON or bytes, as above.
  std::string run(size_t number) const;
  std::string sequences(size_t number, const Parameters& parameters) const;
  std::string map(size_t number, const Parameters& parameters) const;
  std::string thumbnails(size_t number, const Parameters& parameters) const;
  std::string lens(size_t number, const Parameters& parameters) const;
  std::string cell(size_t number, const Parameters& parameters) const;
  std::string change(size_t number, const Parameters& parameters) const;
  std::string labels(size_t number, const Parameters& parameters) const;
  std::string masked(size_t number, const Parameters& parameters) const;

  // Receives some bytes, or none to ask whether anybody still listens; returns false if not.
  using EmitBytes = std::function<bool(const std::string& bytes)>;
  using Writer = std::function<void(const EmitBytes& emit)>;
  // Checks the request, and returns a function that writes the map row by row as rows become known.
  Writer saliency(size_t number, const Parameters& parameters) const;

 private:
  const ExploredModel& model(size_t number) const;
  std::shared_ptr<const ExplorerRun> find(size_t number) const;
  void keep(size_t number, std::shared_ptr<const ExplorerRun> run);

  std::vector<ExploredModel> models_;
  std::optional<ExplorerGuide> guide_;
  std::unique_ptr<TurnLock> computing_;
  mutable std::mutex runs_lock_;
  std::map<size_t, std::shared_ptr<const ExplorerRun>> runs_;
  size_t next_run_ = 1;
};

}  // namespace attend
