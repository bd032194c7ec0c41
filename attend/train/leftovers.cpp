#include "attend/train/leftovers.h"

#include <algorithm>
#include <string>
#include <vector>

#include "attend/base/files.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

void clean_leftovers(const ModelDirectory& directory) {
  const std::string names[] = {
      "config.json",     "model.safetensors",      "attend.yaml",
      "log.jsonl",       "train.corpus",           "valid.corpus",
      "tokenizer.model", "tokenizer.source.model", "tokenizer.target.model",
      ".trained"};
  clean(directory.root, [&](const std::string& name) { return std::ranges::count(names, name); });
  clean(directory.looks(), [](const std::string& name) {
    return name.starts_with("step-") && name.ends_with(".safetensors");
  });
}

}  // namespace attend
