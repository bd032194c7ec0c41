#include "attend/io/checkpoint.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/files.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";

// Piece by piece, so that it takes no memory of the size of the file.
std::string crc32_of(const MappedFile& file) {
  constexpr size_t kPiece = size_t{1} << 24;
  uLong crc = 0;
  for (auto rest = file.bytes(); !rest.empty();) {
    const auto piece = rest.first(std::min(kPiece, rest.size()));
    crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    file.release(piece);
    rest = rest.subspan(piece.size());
  }
  return fmt::format("{:08x}", crc);
}

void sync_to_disk(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) throw IoError("cannot flush {}: {}", path.string(), std::strerror(reason));
}

std::vector<fs::directory_entry> entries_of(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  if (!fs::exists(directory, error) && !error) return entries;
  if (!error) entries.assign(fs::directory_iterator(directory, error), {});
  if (error) throw IoError("cannot list {}: {}", directory.string(), error.message());
  return entries;
}

// A directory of a hidden name, removed with all in it unless it was renamed.
class Aside {
 public:
  Aside(const fs::path& checkpoints, const std::string& name) {
    std::string made = (checkpoints / ("." + name + ".XXXXXX")).string();
    if (::mkdtemp(made.data()) == nullptr) {
      throw IoError("cannot write in {}: {}", checkpoints.string(), std::strerror(errno));
    }
    path_ = made;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::chmod(made.c_str(), 0777 & ~mask);
  }
  ~Aside() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  const fs::path& path() const { return path_; }

  // Takes the place of `target`. One that is there changes places with this, and is removed.
  void move_to(const fs::path& target) const {
    const bool exists = fs::exists(target);
    const unsigned how = exists ? RENAME_EXCHANGE : RENAME_NOREPLACE;
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), how) == 0) return;
    // A file system without the exchange: for a moment neither is there.
    std::optional<Aside> old;
    if (exists) {
      old.emplace(target.parent_path(), target.filename().string());
      ::rename(target.c_str(), old->path().c_str());
    }
    if (::rename(path_.c_str(), target.c_str()) != 0) {
      throw IoError("cannot make {}: {}", target.string(), std::strerror(errno));
    }
  }

 private:
  fs::path path_;
};

void write_manifest(const fs::path& directory) {
  nlohmann::json files = nlohmann::json::object();
  for (const fs::directory_entry& entry : entries_of(directory)) {
    sync_to_disk(entry.path());
    const MappedFile file(entry.path());
    files[entry.path().filename().string()] = {{"bytes", file.bytes().size()},
                                               {"crc32", crc32_of(file)}};
  }
  replace_file(directory / kManifest, nlohmann::json{{"files", files}}.dump(1) + "\n");
}

// The step of "step-N", written as we write it.
std::optional<int64_t> step_of(const std::string& name) {
  constexpr std::string_view kPrefix = "step-";
  int64_t step = -1;
  if (!name.starts_with(kPrefix)) return {};
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, step);
  if (error != std::errc() || stop != end || step < 0) return {};
  return step;
}

// Why there is no such file; empty if there is.
std::string missing_file(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  const std::string name = path.filename().string();
  if (type == fs::file_type::not_found) return name + " is missing";
  if (error) throw IoError("cannot read {}: {}", path.string(), error.message());
  return type == fs::file_type::regular ? "" : name + " is not a file";
}

void remove_checkpoint(const Checkpoint& checkpoint) {
  // Half removed it must not look like a checkpoint.
  const Aside aside(checkpoint.path.parent_path(), checkpoint.path.filename().string());
  if (::rename(checkpoint.path.c_str(), aside.path().c_str()) != 0) {
    throw IoError("cannot remove {}: {}", checkpoint.path.string(), std::strerror(errno));
  }
}

}  // namespace

Checkpoint write_checkpoint(const fs::path& checkpoints, int64_t step,
                            const std::function<void(const fs::path&)>& fill) {
  const std::string name = fmt::format("step-{}", step);
  const Aside aside(checkpoints, name);
  fill(aside.path());
  write_manifest(aside.path());
  aside.move_to(checkpoints / name);
  sync_to_disk(checkpoints);
  return {step, checkpoints / name};
}

std::vector<Checkpoint> list_checkpoints(const fs::path& checkpoints) {
  std::vector<Checkpoint> found;
  for (const fs::directory_entry& entry : entries_of(checkpoints)) {
    const std::optional<int64_t> step = step_of(entry.path().filename().string());
    if (step && entry.is_directory()) found.push_back({*step, entry.path()});
  }
  std::sort(found.begin(), found.end(),
            [](const Checkpoint& a, const Checkpoint& b) { return a.step < b.step; });
  return found;
}

std::string checkpoint_damage(const fs::path& path) try {
  if (std::string missing = missing_file(path / kManifest); !missing.empty()) return missing;
  const auto manifest = nlohmann::json::parse(MappedFile(path / kManifest).text());
  for (const auto& [name, expected] : manifest.at("files").items()) {
    if (name.find('/') != std::string::npos) return fmt::format("'{}' is not a file name", name);
    if (std::string missing = missing_file(path / name); !missing.empty()) return missing;
    const MappedFile file(path / name);
    const auto bytes = expected.at("bytes").get<size_t>();
    if (file.bytes().size() != bytes) {
      return fmt::format("{} has {} bytes instead of {}", name, file.bytes().size(), bytes);
    }
    if (crc32_of(file) != expected.at("crc32").get<std::string>()) {
      return fmt::format("{} has changed since it was written", name);
    }
  }
  return {};
} catch (const nlohmann::json::exception&) {
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
      damaged.push_back(fmt::format("step-{} is damaged ({})", newest.step, damage));
      continue;
    }
    for (const std::string& text : damaged) {
      say(fmt::format("checkpoint {}; going on from step-{}", text, newest.step));
    }
    return newest;
  }
  if (damaged.empty()) return {};
  throw IoError(
      "{0}: no checkpoint is whole: {1}; put a copy of one there, or remove {0} to begin anew",
      checkpoints.string(), fmt::join(damaged, ", "));
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
  const auto whole = [](const Checkpoint& checkpoint) {
    return checkpoint_damage(checkpoint.path).empty();
  };
  if (std::none_of(kept.rbegin(), kept.rend(), whole)) {
    const auto newest = std::find_if(others.rbegin(), others.rend(), whole);
    if (newest != others.rend()) others.erase(std::next(newest).base());
  }
  std::vector<int64_t> removed;
  for (const Checkpoint& checkpoint : others) {
    remove_checkpoint(checkpoint);
    removed.push_back(checkpoint.step);
  }
  return removed;
}

size_t clean_checkpoints(const fs::path& checkpoints) {
  size_t removed = 0;
  for (const fs::directory_entry& entry : entries_of(checkpoints)) {
    if (!entry.path().filename().string().starts_with(".step-")) continue;
    std::error_code error;
    fs::remove_all(entry.path(), error);
    if (error) throw IoError("cannot remove {}: {}", entry.path().string(), error.message());
    ++removed;
  }
  return removed;
}

}  // namespace attend
