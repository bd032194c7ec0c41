#include "attend/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "attend/base/error.h"

namespace attend {
namespace {

// A temporary file is called .NAME.aB3dE6, with so many random letters.
constexpr size_t kDrawn = 6;

std::string random_letters() {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::uniform_int_distribution<size_t> place(0, kLetters.size() - 1);
  std::string text(kDrawn, ' ');
  for (char& letter : text) letter = kLetters[place(random)];
  return text;
}

int open_file(const std::filesystem::path& path, int flags, mode_t mode = 0) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

bool synced(int descriptor) {
  int result = 0;
  do {
    result = ::fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

// Closes a descriptor at the end of a scope.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// Where symbolic links lead, the file being there or not.
std::filesystem::path followed(std::filesystem::path path) {
  while (std::filesystem::is_symlink(std::filesystem::symlink_status(path))) {
    path = path.parent_path() / std::filesystem::read_symlink(path);
  }
  return path;
}

}  // namespace

FileReader::FileReader(std::filesystem::path path) : path_(std::move(path)) {
  Descriptor file{open_file(path_, O_RDONLY)};
  if (file.number < 0) throw IoError("cannot open {}: {}", path_.string(), std::strerror(errno));
  struct stat status {};
  if (::fstat(file.number, &status) != 0) {
    throw IoError("cannot read the size of {}: {}", path_.string(), std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    throw IoError("cannot read {}: it is not a regular file", path_.string());
  }
  size_ = static_cast<size_t>(status.st_size);
  descriptor_ = std::exchange(file.number, -1);
}

FileReader::~FileReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileReader::FileReader(FileReader&& other) noexcept
    : path_(std::move(other.path_)),
      size_(std::exchange(other.size_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

FileReader& FileReader::operator=(FileReader&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void FileReader::read(size_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw IoError("cannot read {}: {}", path_.string(), std::strerror(errno));
    if (count == 0) {
      struct stat status {};
      ::fstat(descriptor_, &status);
      throw IoError("cannot read {}: it was cut off, to {} bytes from {} when it was opened",
                    path_.string(), status.st_size, size_);
    }
    offset += static_cast<size_t>(count);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

void FileReader::sync() const {
  if (!synced(descriptor_)) {
    throw IoError("cannot flush {}: {}", path_.string(), std::strerror(errno));
  }
}

std::string file_contents(const std::filesystem::path& path, size_t most) {
  const FileReader file(path);
  if (file.size() > most) {
    throw FormatError("{}: {} bytes are too many; at most {}", path.string(), file.size(), most);
  }
  std::string text(file.size(), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

std::string AtomicFile::unfinished(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (!name.starts_with('.') || dot < 2 || name.size() - dot != kDrawn + 1) return "";
  const bool drawn = std::ranges::all_of(name.substr(dot + 1),
                                         [](unsigned char c) { return std::isalnum(c) != 0; });
  return drawn ? std::string(name.substr(1, dot - 1)) : "";
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  struct stat status {};
  const bool there = ::stat(path_.c_str(), &status) == 0;
  if (!there && errno != ENOENT) fail("cannot write", errno);
  if (there && !S_ISREG(status.st_mode)) {
    descriptor_ = open_file(path_, O_WRONLY);
    if (descriptor_ < 0) fail("cannot write", errno);
    return;
  }
  path_ = followed(path_);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries && descriptor_ < 0; ++i) {
    temporary_ =
        directory_of(path_) / fmt::format(".{}.{}", path_.filename().string(), random_letters());
    // Nobody whom the old file shuts out may open the new one before it has its mode.
    descriptor_ = open_file(temporary_, O_RDWR | O_CREAT | O_EXCL, there ? 0600 : 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    throw IoError("cannot write beside {}: {}", path_.string(), std::strerror(errno));
  }
  if (!there) return;
  // The owner first: a change of owner takes bits of the mode away. Only root may make gifts.
  [[maybe_unused]] const int given = ::fchown(descriptor_, status.st_uid, status.st_gid);
  if (::fchmod(descriptor_, status.st_mode & 07777) != 0) fail("cannot set the mode of", errno);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void AtomicFile::commit() {
  const bool replaces = !temporary_.empty();
  if (replaces && !synced(descriptor_)) fail("cannot flush", errno);
  // On Linux the descriptor is closed even when a signal came between.
  const bool closed = ::close(std::exchange(descriptor_, -1)) == 0 || errno == EINTR;
  if (!closed) fail("cannot close", errno);
  if (!replaces) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot replace", errno);
  temporary_.clear();
  sync_directory(directory_of(path_));
}

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::fail(const char* what, int error_number) {
  discard();
  throw IoError("{} {}: {}", what, path_.string(), std::strerror(error_number));
}

void replace_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::vector<std::filesystem::path> make_directories(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  const auto fail = [](const fs::path& directory, const std::string& why) {
    throw IoError("cannot make the directory {}: {}", directory.string(), why);
  };
  std::error_code error;
  std::vector<fs::path> missing, made;
  fs::path next = (path / "").parent_path();  // without a slash at the end
  for (; !next.empty() && !fs::is_directory(next, error); next = next.parent_path()) {
    missing.push_back(next);
  }
  for (; !missing.empty(); missing.pop_back()) {
    const fs::path& directory = missing.back();
    const bool is_new = ::mkdir(directory.c_str(), 0777) == 0;
    const int reason = errno;
    if (!is_new && !fs::is_directory(directory, error)) fail(directory, std::strerror(reason));
    if (is_new) made.push_back(directory);
    sync_directory(directory_of(directory));
  }
  return made;
}

void sync_directory(const std::filesystem::path& directory) {
  const Descriptor opened{open_file(directory, O_RDONLY | O_DIRECTORY)};
  if (opened.number < 0 && errno == EACCES) return;  // one may write there, but not look
  if (opened.number >= 0 && (synced(opened.number) || errno == EINVAL)) return;
  throw IoError("cannot sync the directory {}: {}", directory.string(), std::strerror(errno));
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "attend-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw IoError("cannot make a directory {}: {}", name, std::strerror(errno));
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace attend
