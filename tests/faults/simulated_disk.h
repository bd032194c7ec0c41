// A disk that remembers what was synced, and all that a power cut may leave of the rest. It
// promises no more than POSIX does, as in Pillai et al. (2014), "All file systems are not created
// equal":
//
//   data       of a file is safe once the file was synced; until then each write may be missing,
//              cut short, or zeros
//   names      that were created, renamed or removed in a directory are safe once the directory was
//              synced; until then each change may be missing, whatever came before or after it
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/faults/process.h"

namespace attend::faults {

// Every path below the root, with the text of files; directories have none.
using Tree = std::map<std::string, std::optional<std::string>>;

Tree tree_of(const std::filesystem::path& root);
void materialize(const Tree& tree, const std::filesystem::path& root);

class SimulatedDisk {
 public:
  // What is below `root` now is safe.
  explicit SimulatedDisk(const std::filesystem::path& root);

  void apply(const TracedCall& call);

  // What a power cut at this moment may leave: of the changes to names none, all, all but one, one
  // alone, or those up to one; with each, of the data nothing, everything, a half, or zeros.
  std::vector<Tree> after_power_cut() const;

 private:
  struct Node;
  using Shared = std::shared_ptr<Node>;
  struct Write {
    uint64_t place;
    std::string data;
    bool cuts = false;  // the file, to `place`
  };
  struct Node {
    bool directory = false;
    std::string safe;                                 // of a file
    std::vector<Write> writes;                        // since
    std::map<std::string, Shared> safe_names, names;  // of a directory
  };
  // One call's change of the names of one directory: each now leads there, or to nothing.
  struct Change {
    Shared directory;
    std::vector<std::pair<std::string, Shared>> names;
  };
  enum class Data { kNone, kAll, kHalf, kZeros };

  Shared directory_of(const std::string& path) const;  // null: outside the root
  void change(const std::string& directory, std::vector<std::pair<std::string, Shared>> names);
  static std::string text_of(const Node& file, Data data);
  void collect(const Shared& node, const std::string& path, const std::vector<bool>& happened,
               Data data, Tree& tree) const;

  std::string root_path_;
  Shared root_;
  std::vector<Change> changes_;  // that are not safe, in order
  std::map<int, Shared> open_;
};

}  // namespace attend::faults
