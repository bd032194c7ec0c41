// Checkpoints: directories that are there whole or not at all, whenever the machine dies, on any
// file system. Nothing needs more of it than that a rename happens or does not.
//
//   checkpoints/step-1000/          the files of the trainer, and manifest.json with their sizes
//                                   and CRC-32
//   checkpoints/step-1000.old/      the one of that step while it is being replaced
//   checkpoints/.step-1000.new/     being written; whole once it has its manifest
//   checkpoints/.step-1000.removed/ being removed
//
// Who writes, prunes or recovers holds the DirectoryLock of the model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attend {

struct Checkpoint {
  int64_t step = 0;
  std::filesystem::path path;
};

// `fill` writes plain files into the directory it is given. They are synced, summed up in a
// manifest, and renamed into `checkpoints` together. One of the same step stays in reach under one
// of its names until the new one has taken its place. If anything throws before that, the old one
// is where it was. Throws IoError.
Checkpoint write_checkpoint(const std::filesystem::path& checkpoints, int64_t step,
                            const std::function<void(const std::filesystem::path&)>& fill);

// Those of finished names, by step; none if there is no such directory. Not looked into. A step is
// listed twice, the old one first, where a replacement was cut short.
std::vector<Checkpoint> list_checkpoints(const std::filesystem::path& checkpoints);

// What is wrong with the files of a checkpoint, read through; empty if nothing is. A file that the
// system does not let us read may be whole: that throws IoError.
std::string checkpoint_damage(const std::filesystem::path& path);

// The newest that is whole; nothing where there are none at all. `say` hears of newer ones that are
// damaged, and skipped. Throws IoError where there are some but none is whole.
std::optional<Checkpoint> latest_checkpoint(
    const std::filesystem::path& checkpoints,
    const std::function<void(const std::string&)>& say = [](const std::string&) {});

// Whether latest_checkpoint would find one.
bool any_whole_checkpoint(const std::filesystem::path& checkpoints);

struct KeepCheckpoints {
  size_t last = 1;              // this many of the newest
  std::optional<int64_t> best;  // this step
  int64_t every = 0;            // multiples of it; 0: none
};

// Removes the others and returns their steps. If none of those to keep is whole, the newest whole
// one stays as well.
std::vector<int64_t> prune_checkpoints(const std::filesystem::path& checkpoints,
                                       const KeepCheckpoints& keep);

// Puts right what a killed run left half done. A whole checkpoint gets the name of its step, if no
// whole one has that; what is incomplete or was being removed goes. Returns the steps that got
// their names. Throws IoError.
std::vector<int64_t> recover_checkpoints(const std::filesystem::path& checkpoints);

}  // namespace attend
