#include "attend/train/run_directory.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/io/checkpoint.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFiles[] = {"config.json",         "model.safetensors", "adapter.json",
                                       "adapter.safetensors", "attend.yaml",       "log.jsonl",
                                       "train.corpus",        "valid.corpus",      ".trained"};

// Whether runs write a file of this name: "tokenizer.model", "tokenizer.source.model" ...
bool is_ours(std::string_view name) {
  return std::ranges::find(kFiles, name) != std::end(kFiles) ||
         (name.starts_with("tokenizer.") && name.ends_with(".model"));
}

// Files that a run was writing when it was killed: AtomicFile writes into .NAME.aB3dE6.
template <typename Known>
void clean(const fs::path& directory, const Known& known) {
  std::error_code none;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, none)) {
    const std::string name = AtomicFile::unfinished(entry.path().filename().string());
    if (!name.empty() && known(name) && entry.is_regular_file()) found.push_back(entry.path());
  }
  for (const fs::path& path : found) fs::remove(path, none);
}

void clean_leftovers(const ModelDirectory& directory) {
  clean(directory.root, is_ours);
  clean(directory.looks(), [](const std::string& name) {
    return name.starts_with("step-") && name.ends_with(".safetensors");
  });
}

void remove_path(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw IoError("cannot remove {}: {}", path.string(), error.message());
}

}  // namespace

RunDirectory::RunDirectory(ModelDirectory directory,
                           const std::function<void(const std::string&)>& say)
    : directory_(std::move(directory)),
      made_{make_directories(directory_.root)},
      lock_(directory_.root) {
  clean_leftovers(directory_);
  const std::vector<int64_t> steps = recover_checkpoints(directory_.checkpoints());
  if (steps.empty()) return;
  say(fmt::format("recovered checkpoint step-{}, which a run was writing when it was killed",
                  fmt::join(steps, ", step-")));
}

RunDirectory::~RunDirectory() {
  if (made_.paths.empty()) return;
  std::error_code ignored;
  clean_leftovers(directory_);
  std::vector<fs::path> ours;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_.root, ignored)) {
    if (is_ours(entry.path().filename().string())) ours.push_back(entry.path());
  }
  for (const fs::path& path : ours) fs::remove(path, ignored);
  fs::remove(directory_.checkpoints(), ignored);
  fs::remove(directory_.root / ".lock", ignored);
}

RunDirectory::MadeDirectories::~MadeDirectories() {
  std::error_code ignored;
  for (const fs::path& path : paths | std::views::reverse) fs::remove(path, ignored);
}

void remove_model(const ModelDirectory& directory) {
  remove_path(directory.weights());
  remove_path(directory.adapter());
  remove_path(directory.adapter_config());
  sync_directory(directory.root);
  remove_path(directory.alignment());
  remove_path(directory.checkpoints());
  remove_path(directory.looks());
}

}  // namespace attend
