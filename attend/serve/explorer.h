// What the explorer's page asks: text in; lines of JSON, JSON and bytes out. It knows nothing of
// HTTP (routes.h). Any number of threads may ask; models compute for one at a time, in the order in
// which they were asked, and long work lets others in between. Only runs, saliency, and what takes
// one pass (maps, thumbnails, cells, the lens) wait for that; the latter go before the others.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/error.h"
#include "attend/io/model_directory.h"
#include "attend/models/text_model.h"

namespace attend {

struct ExploredModel {
  ModelDirectory directory;
  TextModel model;  // frozen
  bool has_lens = false;
};

class TurnLock;

// An input, what was written from it, and the tree of what could have been.
struct ExplorerRun;

// A run or a model that is not there.
class NotFound : public DataError {
  using DataError::DataError;
};

class Explorer {
 public:
  // Throws Error, naming the file of a model directory that is missing or wrong.
  explicit Explorer(std::span<const std::filesystem::path> models);
  ~Explorer();

  // Each as the page's interface in docs/seeing.md says.
  using Parameters = std::map<std::string, std::string>;
  std::string models() const;
  std::string training(size_t model, const Parameters& parameters) const;

  std::string snapshots(size_t model) const;
  std::string snapshot_map(size_t model, const Parameters& parameters) const;

  // Takes one line of JSON; returns false where nobody listens any more.
  using Emit = std::function<bool(const std::string& line)>;
  // Starts a run and reports it, event by event; an Error is an event as well.
  void start_run(std::string_view request, const Emit& emit);

  std::string run(size_t number) const;
  std::string sequences(size_t number, const Parameters& parameters) const;
  std::string map(size_t number, const Parameters& parameters) const;
  std::string thumbnails(size_t number, const Parameters& parameters) const;
  std::string lens(size_t number, const Parameters& parameters) const;
  std::string cell(size_t number, const Parameters& parameters) const;

  // Takes some bytes, or none to find out whether anybody listens; returns false where nobody does.
  using EmitBytes = std::function<bool(const std::string& bytes)>;
  using Writer = std::function<void(const EmitBytes& emit)>;
  // Checks what is asked for; what it returns writes the map, row by row as they become known.
  Writer saliency(size_t number, const Parameters& parameters) const;

 private:
  const ExploredModel& model(size_t number) const;
  std::shared_ptr<const ExplorerRun> find(size_t number) const;
  void keep(size_t number, std::shared_ptr<const ExplorerRun> run);

  std::vector<ExploredModel> models_;
  std::unique_ptr<TurnLock> computing_;
  mutable std::mutex runs_lock_;
  std::map<size_t, std::shared_ptr<const ExplorerRun>> runs_;
  size_t next_run_ = 1;
};

}  // namespace attend
