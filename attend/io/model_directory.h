// A model is a directory: where its parts are, and the lock that keeps it to one trainer.
#pragma once

#include <filesystem>
#include <string_view>

namespace attend {

struct ModelDirectory {
  std::filesystem::path root;

  std::filesystem::path config() const { return root / "config.json"; }         // architecture
  std::filesystem::path weights() const { return root / "model.safetensors"; }  // of the best step
  std::filesystem::path alignment() const { return root / "alignment.json"; }   // its best place
  std::filesystem::path training() const { return root / "attend.yaml"; }       // every setting
  std::filesystem::path log() const { return root / "log.jsonl"; }              // JsonLog
  std::filesystem::path checkpoints() const { return root / "checkpoints"; }    // checkpoint.h
  std::filesystem::path looks() const { return root / "looks"; }                // snapshot.h
  // One tokenizer for both sides, or one for the side "source" or "target".
  std::filesystem::path tokenizer(std::string_view side = "") const;

  // With its parents, unless it is there; it stays there after a power cut. Throws IoError.
  void create() const;
};

// Held as long as it lives, and let go by the system should the process die.
class DirectoryLock {
 public:
  // Throws IoError if another process, or another lock of this one, holds `directory` or has just
  // removed it.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace attend
