#include "attend/base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "attend/base/error.h"

namespace attend {
namespace {

// A temporary file is called .NAME.aB3dE6: so many letters are drawn, where mkstemp finds an X.
constexpr size_t kDrawn = 6;

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

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) throw IoError("cannot open {}: {}", path.string(), std::strerror(errno));
  struct stat status {};
  if (::fstat(file.number, &status) != 0) {
    throw IoError("cannot read the size of {}: {}", path.string(), std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    throw IoError("cannot map {}: it is not a regular file", path.string());
  }
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (mapped == MAP_FAILED) {
    throw IoError("cannot map {} ({} bytes): {}", path.string(), size_, std::strerror(errno));
  }
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::release(std::span<const std::byte> part) const {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<size_t>(part.data() - data_);
  const size_t begin = (offset + page - 1) / page * page,
               end = (offset + part.size()) / page * page;
  if (begin < end) ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
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
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot write", errno);
    return;
  }
  path_ = followed(path_);
  const std::string hidden = "." + path_.filename().string() + "." + std::string(kDrawn, 'X');
  std::string name = (directory_of(path_) / hidden).string();
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    throw IoError("cannot write beside {}: {}", path_.string(), std::strerror(errno));
  }
  temporary_ = name;
  // mkstemp gives 0600; a file should get what the user's umask allows.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, 0666 & ~mask);
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
  if (replaces && ::fsync(descriptor_) != 0) fail("cannot flush", errno);
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0) fail("cannot close", errno);
  if (!replaces) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot replace", errno);
  temporary_.clear();
  const Descriptor directory{
      ::open(directory_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (directory.number < 0 || ::fsync(directory.number) != 0) {
    fail("cannot sync the directory of", errno);
  }
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
