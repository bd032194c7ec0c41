#include "attend/io/checkpoint.h"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/files.h"
#include "attend/base/printable.h"
#include "attend/io/bounded_json.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";
constexpr size_t kLargestManifest = size_t{1} << 20;
constexpr std::string_view kOld = ".old", kNew = ".new", kRemoved = ".removed";

// Piece by piece, so that it takes no memory of the size of the file.
std::string crc32_of(const FileReader& file) {
  std::vector<std::byte> piece(size_t{1} << 20);
  uLong crc = 0;
  for (size_t at = 0; at < file.size(); at += piece.size()) {
    piece.resize(std::min(piece.size(), file.size() - at));
    file.read(at, piece);
    crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  }
  return fmt::format("{:08x}", crc);
}

std::vector<fs::directory_entry> entries_of(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  if (!fs::exists(directory, error) && !error) return entries;
  if (!error) entries.assign(fs::directory_iterator(directory, error), {});
  if (error) throw IoError("cannot list {}: {}", directory.string(), error.message());
  return entries;
}

fs::path hidden(const fs::path& path, std::string_view ending) {
  return path.parent_path() / fmt::format(".{}{}", path.filename().string(), ending);
}

void remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw IoError("cannot remove {}: {}", path.string(), error.message());
}

void move(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return;
  throw IoError("cannot rename {} to {}: {}", from.string(), to.filename().string(),
                std::strerror(errno));
}

// Checkpoints of one directory. Half removed they must not look like checkpoints, after a power
// cut either.
void discard(const std::vector<fs::path>& paths) {
  if (paths.empty()) return;
  for (const fs::path& path : paths) {
    remove_tree(hidden(path, kRemoved));
    move(path, hidden(path, kRemoved));
  }
  sync_directory(paths.front().parent_path());
  for (const fs::path& path : paths) remove_tree(hidden(path, kRemoved));
}

// A directory to write a checkpoint in, removed with all in it unless it was moved into place.
class NewDirectory {
 public:
  explicit NewDirectory(const fs::path& target) : target_(target), path_(hidden(target, kNew)) {
    remove_tree(path_);
    if (::mkdir(path_.c_str(), 0777) != 0) {
      throw IoError("cannot write in {}: {}", target.parent_path().string(), std::strerror(errno));
    }
  }
  ~NewDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;
  const fs::path& path() const { return path_; }

  void move_to_target() const {
    const fs::path old = target_.string() + std::string(kOld);
    const bool replaces = fs::exists(target_);
    if (replaces) {
      if (fs::exists(old)) discard({old});
      move(target_, old);
    }
    try {
      move(path_, target_);
    } catch (...) {
      if (replaces) std::rename(old.c_str(), target_.c_str());  // in reach under either name
      throw;
    }
    sync_directory(target_.parent_path());
    if (replaces) discard({old});
  }

 private:
  fs::path target_, path_;
};

void write_manifest(const fs::path& directory) {
  nlohmann::json files = nlohmann::json::object();
  for (const fs::directory_entry& entry : entries_of(directory)) {
    const FileReader file(entry.path());
    file.sync();
    files[entry.path().filename().string()] = {{"bytes", file.size()}, {"crc32", crc32_of(file)}};
  }
  replace_file(directory / kManifest, nlohmann::json{{"files", files}}.dump(1) + "\n");
}

// The step of "step-N" or "step-N.old", written as we write it.
std::optional<int64_t> step_of(std::string_view name) {
  constexpr std::string_view kPrefix = "step-";
  int64_t step = -1;
  if (!name.starts_with(kPrefix)) return {};
  if (name.ends_with(kOld)) name.remove_suffix(kOld.size());
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, step);
  if (error != std::errc() || stop != end || step < 0) return {};
  return step;
}

// Where a checkpoint belongs that is called ".step-N.anything" or "step-N.old"; empty for others.
fs::path place_of(const fs::path& path) {
  const std::string name = path.filename().string();
  const size_t begin = name.starts_with('.') ? 1 : 0, end = name.find('.', begin);
  if (end == std::string::npos || (begin == 0 && !name.ends_with(kOld))) return {};
  const std::string place = name.substr(begin, end - begin);
  return step_of(place) ? path.parent_path() / place : fs::path();
}

// Why there is no such file; empty if there is.
std::string missing_file(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  const std::string name = shown_name(path.filename().string());
  if (type == fs::file_type::not_found) return name + " is missing";
  if (error) throw IoError("cannot read {}: {}", path.string(), error.message());
  return type == fs::file_type::regular ? "" : name + " is not a file";
}

bool whole(const fs::path& path) { return checkpoint_damage(path).empty(); }

}  // namespace

Checkpoint write_checkpoint(const fs::path& checkpoints, int64_t step,
                            const std::function<void(const fs::path&)>& fill) {
  const fs::path target = checkpoints / fmt::format("step-{}", step);
  const NewDirectory fresh(target);
  fill(fresh.path());
  write_manifest(fresh.path());
  fresh.move_to_target();
  return {step, target};
}

std::vector<Checkpoint> list_checkpoints(const fs::path& checkpoints) {
  std::vector<Checkpoint> found;
  for (const fs::directory_entry& entry : entries_of(checkpoints)) {
    const std::optional<int64_t> step = step_of(entry.path().filename().string());
    if (step && entry.is_directory()) found.push_back({*step, entry.path()});
  }
  std::sort(found.begin(), found.end(), [](const Checkpoint& a, const Checkpoint& b) {
    return a.step != b.step ? a.step < b.step : a.path > b.path;  // step-N.old, step-N
  });
  return found;
}

std::string checkpoint_damage(const fs::path& path) try {
  if (std::string missing = missing_file(path / kManifest); !missing.empty()) return missing;
  const auto manifest =
      parse_bounded_json(file_contents(path / kManifest, kLargestManifest), kManifest);
  for (const auto& [name, expected] : manifest.at("files").items()) {
    if (name.find('/') != std::string::npos) {
      return fmt::format("'{}' is not a file name", shown_name(name));
    }
    if (std::string missing = missing_file(path / name); !missing.empty()) return missing;
    const FileReader file(path / name);
    const auto bytes = expected.at("bytes").get<size_t>();
    if (file.size() != bytes) {
      return fmt::format("{} has {} bytes instead of {}", name, file.size(), bytes);
    }
    if (crc32_of(file) != expected.at("crc32").get<std::string>()) {
      return fmt::format("{} has changed since it was written", name);
    }
  }
  return {};
} catch (const nlohmann::json::exception&) {
  return fmt::format("{} is damaged", kManifest);
} catch (const FormatError&) {  // it is too large or too deep
  return fmt::format("{} is damaged", kManifest);
}

std::optional<Checkpoint> latest_checkpoint(const fs::path& checkpoints,
                                            const std::function<void(const std::string&)>& say) {
  std::vector<std::string> damaged;
  std::vector<Checkpoint> left = list_checkpoints(checkpoints);
  for (; !left.empty(); left.pop_back()) {
    const Checkpoint& newest = left.back();
    const std::string damage = checkpoint_damage(newest.path);
    if (!damage.empty()) {
      damaged.push_back(fmt::format("{} is damaged ({})", newest.path.filename().string(), damage));
      continue;
    }
    for (const std::string& text : damaged) {
      say(fmt::format("checkpoint {}; going on from step-{}", text, newest.step));
    }
    return newest;
  }
  if (damaged.empty()) return {};
  throw IoError(
      "{}: no checkpoint is whole: {}; restore one from a copy, or overwrite the model (attend "
      "train: --overwrite)",
      checkpoints.string(), fmt::join(damaged, ", "));
}

std::optional<Checkpoint> checkpoint_of_unfinished(const ModelDirectory& directory) {
  const auto has = [](const fs::path& file) { return fs::exists(file); };
  if (has(directory.weights()) || has(directory.adapter_config())) return std::nullopt;
  return latest_checkpoint(directory.checkpoints());
}

bool any_whole_checkpoint(const fs::path& checkpoints) {
  const std::vector<Checkpoint> all = list_checkpoints(checkpoints);
  return std::any_of(all.rbegin(), all.rend(), [](const Checkpoint& c) { return whole(c.path); });
}

std::vector<int64_t> prune_checkpoints(const fs::path& checkpoints, const KeepCheckpoints& keep) {
  std::vector<Checkpoint> kept, others;
  const std::vector<Checkpoint> all = list_checkpoints(checkpoints);
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t step = all[i].step;
    const bool wanted = all.size() - i <= keep.last || step == keep.best ||
                        (keep.every > 0 && step % keep.every == 0);
    (wanted ? kept : others).push_back(all[i]);
  }
  const auto loads = [](const Checkpoint& checkpoint) { return whole(checkpoint.path); };
  if (std::none_of(kept.rbegin(), kept.rend(), loads)) {
    const auto newest = std::find_if(others.rbegin(), others.rend(), loads);
    if (newest != others.rend()) others.erase(std::next(newest).base());
  }
  std::vector<int64_t> removed;
  std::vector<fs::path> paths;
  for (const Checkpoint& checkpoint : others) {
    removed.push_back(checkpoint.step);
    paths.push_back(checkpoint.path);
  }
  discard(paths);
  return removed;
}

std::vector<int64_t> recover_checkpoints(const fs::path& checkpoints) {
  std::vector<fs::path> left;
  for (const fs::directory_entry& entry : entries_of(checkpoints)) {
    if (entry.is_directory() && !place_of(entry.path()).empty()) left.push_back(entry.path());
  }
  std::sort(left.begin(), left.end());  // what is new before what is old
  std::vector<int64_t> recovered;
  for (const fs::path& path : left) {
    const fs::path place = place_of(path);
    const std::string name = path.filename().string();
    const bool taken = fs::exists(place) && whole(place);
    const bool old = !name.starts_with('.'), condemned = name.ends_with(kRemoved);
    if (!condemned && !taken && whole(path)) {
      sync_directory(path);  // its manifest may be as new as that
      if (fs::exists(place)) discard({place});
      move(path, place);
      sync_directory(checkpoints);
      recovered.push_back(*step_of(place.filename().string()));
    } else if (!old) {
      remove_tree(path);
    } else if (taken) {
      discard({path});
    }
  }
  return recovered;
}

}  // namespace attend
