#include "attend/io/model_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "attend/base/error.h"
#include "attend/base/files.h"

namespace attend {
namespace {

// Whether a path leads to the file that is open: a run that came to nothing removes its lock.
bool names(const std::filesystem::path& path, int descriptor) {
  struct stat named {
  }, opened{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

}  // namespace

std::filesystem::path ModelDirectory::tokenizer(std::string_view side) const {
  return root / (side.empty() ? "tokenizer.model" : fmt::format("tokenizer.{}.model", side));
}

void ModelDirectory::create() const { make_directories(checkpoints()); }

DirectoryLock::DirectoryLock(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / ".lock";
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw IoError("cannot lock {}: {}; is it writable?", directory.string(), std::strerror(errno));
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    char owner[32] = {};
    const ssize_t length = ::pread(descriptor_, owner, sizeof owner - 1, 0);
    ::close(descriptor_);
    if (reason != EWOULDBLOCK) {
      throw IoError("cannot lock {}: {}", directory.string(), std::strerror(reason));
    }
    throw IoError(
        "{} is in use by another trainer{}; wait for it, stop it, or choose another "
        "directory",
        directory.string(), length > 0 ? fmt::format(" (process {})", owner) : "");
  }
  if (!names(path, descriptor_)) {
    ::close(descriptor_);
    throw IoError("{} was removed by another trainer at this moment; run it again",
                  directory.string());
  }
  // For the message above only: a full disk must not keep a trainer from resuming.
  const std::string owner = std::to_string(::getpid());
  if (::ftruncate(descriptor_, 0) == 0) {
    [[maybe_unused]] const ssize_t written = ::pwrite(descriptor_, owner.data(), owner.size(), 0);
  }
}

DirectoryLock::~DirectoryLock() { ::close(descriptor_); }

}  // namespace attend
