// The directory of a run: made, locked, put right after a crash, and removed again if nothing comes
// of it. Not for use outside train/.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attend/io/model_directory.h"

namespace attend {

class RunDirectory {
 public:
  // Makes it unless it is there, and holds its lock. What a killed run was writing is removed; its
  // checkpoints are recovered, and `say` hears of them. Throws IoError.
  RunDirectory(ModelDirectory directory, const std::function<void(const std::string&)>& say);
  // Unless keep() was called, removes what is new: directories that this made, the files that runs
  // write in them, and nothing else.
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const ModelDirectory& operator*() const { return directory_; }
  const ModelDirectory* operator->() const { return &directory_; }
  void keep() { made_.paths.clear(); }

 private:
  // The outermost first. Those that are empty go with it, also where another run has the lock.
  struct MadeDirectories {
    std::vector<std::filesystem::path> paths;
    ~MadeDirectories();
  };

  ModelDirectory directory_;
  MadeDirectories made_;
  DirectoryLock lock_;
};

// Removes the model that is there, its checkpoints, its alignment and its snapshots. The weights
// go first, so that what is left after a crash is not loaded.
void remove_model(const ModelDirectory& directory);

}  // namespace attend
