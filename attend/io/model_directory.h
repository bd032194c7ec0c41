// The model directory: where its files are, and the lock that allows one trainer at a time.
#pragma once

#include <filesystem>
#include <string_view>

namespace attend {

// The format of the model directories that this version writes, and the first version of Attend
// that reads it. config.json holds both (docs/versions.md).
inline constexpr size_t kModelFormat = 1;
inline constexpr std::string_view kModelFormatSince = "0.1.0";

// The paths in a model directory, whether or not the files exist.
struct ModelDirectory {
  std::filesystem::path root;

  std::filesystem::path config() const { return root / "config.json"; }         // architecture
  std::filesystem::path weights() const { return root / "model.safetensors"; }  // of the best step
  // In place of weights: what fine-tuning changed of another model (models/adapter.h).
  std::filesystem::path adapter() const { return root / "adapter.safetensors"; }
  std::filesystem::path adapter_config() const { return root / "adapter.json"; }
  // The best layer and head for alignments.
  std::filesystem::path alignment() const { return root / "alignment.json"; }
  // Every setting of the run.
  std::filesystem::path training() const { return root / "attend.yaml"; }
  std::filesystem::path log() const { return root / "log.jsonl"; }            // JsonLog
  std::filesystem::path checkpoints() const { return root / "checkpoints"; }  // checkpoint.h
  std::filesystem::path looks() const { return root / "looks"; }              // snapshot.h
  // The shared tokenizer, or that of a column such as "source".
  std::filesystem::path tokenizer(std::string_view side = "") const;

  // Creates the directory and its parents, if missing, so that they survive a power cut. Throws
  // IoError.
  void create() const;
};

// A lock on a model directory, held while the object lives. The system releases it if the process
// dies.
class DirectoryLock {
 public:
  // Throws IoError if another process, or another lock of this process, holds the lock.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace attend
