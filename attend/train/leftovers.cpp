#include "attend/train/leftovers.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace attend {
namespace {

namespace fs = std::filesystem;

// What a file would have been called that was never finished; empty for any other.
std::string unfinished(const std::string& name) {
  constexpr size_t kEnding = 7;  // such as ".aB3dE6"
  if (!name.starts_with('.') || name.size() < kEnding + 2) return "";
  const size_t dot = name.size() - kEnding;
  const bool random = std::all_of(name.begin() + static_cast<ptrdiff_t>(dot) + 1, name.end(),
                                  [](unsigned char c) { return std::isalnum(c) != 0; });
  return name[dot] == '.' && random ? name.substr(1, dot - 1) : "";
}

template <typename Known>
void clean(const fs::path& directory, const Known& known) {
  std::error_code none;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, none)) {
    const std::string name = unfinished(entry.path().filename().string());
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
