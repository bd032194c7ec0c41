// Checkpoints: directories that are complete or absent, whenever the machine dies, on any file
// system whose renames are atomic.
//
//   checkpoints/step-1000/          the files of the trainer, and manifest.json with their sizes
//                                   and CRC-32
//   checkpoints/step-1000.old/      the old one, while it is being replaced
//   checkpoints/.step-1000.new/     being written; complete once it has its manifest
//   checkpoints/.step-1000.removed/ being removed
//
// Writing, pruning and recovering need the DirectoryLock of the model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attend/io/model_directory.h"

namespace attend {

// The file of a checkpoint that has the weights, and what their names begin with: as they are, and
// their moving average, where a run keeps one.
inline constexpr const char* kTrainingTensors = "training.safetensors";
inline constexpr const char* kWeightsPrefix = "weights.";
inline constexpr const char* kAveragePrefix = "average.";

// A checkpoint on disk.
struct Checkpoint {
  int64_t step = 0;
  std::filesystem::path path;
};

// Writes a checkpoint. `fill` writes plain files into the directory that it is given; they are
// synced, listed in a manifest, and renamed into `checkpoints` together. An old checkpoint of the
// same step stays until the new one is in place, and is unchanged if anything throws before that.
// Throws IoError.
Checkpoint write_checkpoint(const std::filesystem::path& checkpoints, int64_t step,
                            const std::function<void(const std::filesystem::path&)>& fill);

// The checkpoints in a directory, by step; none if there is no such directory. Their files are not
// checked. A step is listed twice, the old one first, if a replacement was interrupted.
std::vector<Checkpoint> list_checkpoints(const std::filesystem::path& checkpoints);

// Reads all files of a checkpoint and says what is wrong with them; empty if nothing is. Throws
// IoError for a file that cannot be read, which may be intact.
std::string checkpoint_damage(const std::filesystem::path& path);

// The newest intact checkpoint; none if there are no checkpoints. `say` is told of newer ones that
// are damaged and skipped. Throws IoError if there are checkpoints but none is intact.
std::optional<Checkpoint> latest_checkpoint(
    const std::filesystem::path& checkpoints,
    const std::function<void(const std::string&)>& say = [](const std::string&) {});

// The checkpoint that stands for the model of a run that has kept none yet: the newest intact one.
// None where the directory has a model, or no checkpoint.
std::optional<Checkpoint> checkpoint_of_unfinished(const ModelDirectory& directory);

// Whether latest_checkpoint would find one.
bool any_whole_checkpoint(const std::filesystem::path& checkpoints);

// Which checkpoints to keep.
struct KeepCheckpoints {
  size_t last = 1;              // this many of the newest
  std::optional<int64_t> best;  // this step
  int64_t every = 0;            // multiples of this; 0: none
};

// Removes all others and returns their steps. If none of those to keep is intact, the newest intact
// one stays as well.
std::vector<int64_t> prune_checkpoints(const std::filesystem::path& checkpoints,
                                       const KeepCheckpoints& keep);

// Cleans up after a run that was killed. A complete checkpoint gets its final name, unless an
// intact one has it; incomplete ones are removed. Returns the steps that were recovered. Throws
// IoError.
std::vector<int64_t> recover_checkpoints(const std::filesystem::path& checkpoints);

}  // namespace attend
