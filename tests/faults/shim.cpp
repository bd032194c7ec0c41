// A library that stands between a program and the C library (LD_PRELOAD) and lets calls on files
// below one directory fail. It takes its orders from the environment:
//
//   ATTEND_FAULTS_ROOT   the directory; calls on files elsewhere are passed on and not counted
//   ATTEND_FAULTS_PLAN   "CALL N HOW", several with ';' between: the N-th call (from 1; "N+": it
//   and
//                        all that follow) does not happen but fails. CALL is one of kCallNames or
//                        "any". HOW is ENOSPC, EIO, EINTR or EINVAL; "short": half of what was
//                        asked for is read or written; "kill": the process dies before the call.
//   ATTEND_FAULTS_TRACE  a file for the Records of trace.h
//
// Nothing is really synced, which would only take time: a power cut is simulated from the trace.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "tests/faults/trace.h"

namespace attend::faults {
namespace {

constexpr size_t kMostDescriptors = 1 << 16;

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// Past the shim itself.
ssize_t write_raw(int descriptor, const void* data, size_t size) {
  return ::syscall(SYS_write, descriptor, data, size);
}

enum class How { kFail, kShort, kKill };

struct Order {
  std::string call;
  uint64_t first = 0;
  bool onwards = false;
  How how = How::kFail;
  int error = 0;
};

Order parsed(const std::string& text) {
  const size_t a = text.find(' '), b = text.find(' ', a + 1);
  Order order;
  order.call = text.substr(0, a);
  const std::string number = text.substr(a + 1, b - a - 1), how = text.substr(b + 1);
  order.first = std::strtoull(number.c_str(), nullptr, 10);
  order.onwards = number.back() == '+';
  if (how == "short") order.how = How::kShort;
  if (how == "kill") order.how = How::kKill;
  const struct {
    const char* name;
    int number;
  } errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EINTR", EINTR}, {"EINVAL", EINVAL}};
  for (const auto& error : errors) {
    if (how == error.name) order.error = error.number;
  }
  if (order.how == How::kFail && order.error == 0) ::abort();  // a plan of no sense
  return order;
}

// What is to be done, and what has been.
class Shim {
 public:
  Shim() {
    const auto variable = [](const char* name) {
      const char* const value = ::getenv(name);
      return std::string(value == nullptr ? "" : value);
    };
    root_ = variable("ATTEND_FAULTS_ROOT");
    const std::string plan = variable("ATTEND_FAULTS_PLAN");
    for (size_t begin = 0; begin < plan.size();) {
      const size_t end = std::min(plan.find(';', begin), plan.size());
      orders_.push_back(parsed(plan.substr(begin, end - begin)));
      begin = end + 1;
    }
    if (const std::string file = variable("ATTEND_FAULTS_TRACE"); !file.empty()) {
      trace_ = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, file.c_str(),
                                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    }
  }

  // Holds the order of calls: one at a time.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  bool below(const std::string& path) const {
    return !root_.empty() && path.starts_with(root_) &&
           (path.size() == root_.size() || path[root_.size()] == '/');
  }
  bool knows(int descriptor) const {
    return descriptor >= 0 && static_cast<size_t>(descriptor) < kMostDescriptors &&
           known_[static_cast<size_t>(descriptor)];
  }
  void set_known(int descriptor, bool known) {
    if (descriptor >= 0 && static_cast<size_t>(descriptor) < kMostDescriptors) {
      known_[static_cast<size_t>(descriptor)] = known;
    }
  }

  // Counts a call. True: it is to fail, and errno says how; `size` may have become smaller.
  bool fails(Call call, size_t* size = nullptr) {
    const auto index = static_cast<size_t>(call);
    const uint64_t nth = ++counts_[index], of_all = ++all_;
    for (const Order& order : orders_) {
      const bool any = order.call == "any";
      if (!any && order.call != kCallNames[index]) continue;
      const uint64_t count = any ? of_all : nth;
      if (order.onwards ? count < order.first : count != order.first) continue;
      if (order.how == How::kKill) ::kill(::getpid(), SIGKILL);
      if (order.how == How::kShort) {
        if (size != nullptr && *size > 1) *size /= 2;
        continue;
      }
      errno = order.error;
      return true;
    }
    return false;
  }

  void record(Record record, const std::string& path = "", const std::string& other = "",
              const void* data = nullptr) const {
    if (trace_ < 0) return;
    record.path_size = static_cast<uint32_t>(path.size());
    record.other_size = static_cast<uint32_t>(other.size());
    std::string text(reinterpret_cast<const char*>(&record), sizeof record);
    text += path;
    text += other;
    text.append(static_cast<const char*>(data), data == nullptr ? 0 : record.data_size);
    if (write_raw(trace_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::abort();
  }

 private:
  std::string root_;
  std::vector<Order> orders_;
  std::mutex mutex_;
  std::array<uint64_t, static_cast<size_t>(Call::kCount)> counts_{};
  uint64_t all_ = 0;
  std::array<std::atomic<bool>, kMostDescriptors> known_{};
  int trace_ = -1;
};

// Never destroyed: files are closed until the very end.
Shim& shim() {
  static Shim* const one = new Shim;
  return *one;
}

std::string absolute(int directory, const char* path) {
  if (path[0] == '/') return path;
  char from[PATH_MAX] = {};
  const std::string link =
      directory == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/" + std::to_string(directory);
  if (::syscall(SYS_readlink, link.c_str(), from, sizeof from - 1) < 0) return path;
  return std::string(from) + "/" + path;
}

int opened(int directory, const char* name, int flags, mode_t mode) {
  const auto open_real = [&] {
    return static_cast<int>(::syscall(SYS_openat, directory, name, flags, mode));
  };
  const std::string path = absolute(directory, name);
  if (!shim().below(path)) return open_real();
  const auto lock = shim().lock();
  if (shim().fails(Call::kOpen)) return -1;
  struct stat status {};
  const bool was_there = ::syscall(SYS_newfstatat, directory, name, &status, 0) == 0;
  const int descriptor = open_real();
  shim().set_known(descriptor, true);
  shim().record({.call = Call::kOpen,
                 .descriptor = descriptor,
                 .failed = descriptor < 0,
                 .created = !was_there && (flags & O_CREAT) != 0},
                path);
  return descriptor;
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

ssize_t written(int descriptor, const void* data, size_t size, off64_t place) {
  const auto write_real = [&] {
    return place < 0 ? write_raw(descriptor, data, size)
                     : ::syscall(SYS_pwrite64, descriptor, data, size, place);
  };
  if (!shim().knows(descriptor)) return write_real();
  const auto lock = shim().lock();
  if (shim().fails(Call::kWrite, &size)) return -1;
  const ssize_t count = write_real();
  const int reason = errno;
  const off64_t end = ::lseek64(descriptor, 0, SEEK_CUR);
  shim().record({.call = Call::kWrite,
                 .descriptor = descriptor,
                 .failed = count < 0,
                 .data_size = static_cast<uint32_t>(std::max<ssize_t>(count, 0)),
                 .place = static_cast<uint64_t>(place < 0 ? end - count : place)},
                "", "", data);
  errno = reason;
  return count;
}

template <typename Read>
ssize_t read_part(int descriptor, size_t size, const Read& read_real) {
  if (!shim().knows(descriptor)) return read_real(size);
  const auto lock = shim().lock();
  if (shim().fails(Call::kRead, &size)) return -1;
  shim().record({.call = Call::kRead, .descriptor = descriptor});
  return read_real(size);
}

int synced(int descriptor) {
  if (!shim().knows(descriptor)) return 0;
  const auto lock = shim().lock();
  if (shim().fails(Call::kSync)) return -1;
  shim().record({.call = Call::kSync, .descriptor = descriptor});
  return 0;
}

int truncated(int descriptor, off64_t size) {
  const auto truncate_real = [&] {
    return static_cast<int>(::syscall(SYS_ftruncate, descriptor, size));
  };
  if (!shim().knows(descriptor)) return truncate_real();
  const auto lock = shim().lock();
  if (shim().fails(Call::kTruncate)) return -1;
  const int result = truncate_real();
  shim().record({.call = Call::kTruncate,
                 .descriptor = descriptor,
                 .failed = result != 0,
                 .place = static_cast<uint64_t>(size)});
  return result;
}

// A call that names a path, and perhaps another.
template <typename Act>
int on_path(Call call, const std::string& path, const std::string& other, const Act& act) {
  if (!shim().below(path)) return act();
  const auto lock = shim().lock();
  if (shim().fails(call)) return -1;
  const int result = act();
  shim().record({.call = call, .descriptor = -1, .failed = result != 0}, path, other);
  return result;
}

int renamed(int from_directory, const char* from, int to_directory, const char* to,
            unsigned flags) {
  const Call call = flags == 0 ? Call::kRename : Call::kExchange;
  return on_path(call, absolute(from_directory, from), absolute(to_directory, to), [&] {
    return static_cast<int>(
        ::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
  });
}

int unlinked(int directory, const char* name, int flags) {
  return on_path(Call::kUnlink, absolute(directory, name), "",
                 [&] { return static_cast<int>(::syscall(SYS_unlinkat, directory, name, flags)); });
}

int made(int directory, const char* name, mode_t mode) {
  return on_path(Call::kMakeDirectory, absolute(directory, name), "",
                 [&] { return static_cast<int>(::syscall(SYS_mkdirat, directory, name, mode)); });
}

void forgotten(int descriptor) {
  shim().set_known(descriptor, false);
  shim().record({.call = Call::kClose, .descriptor = descriptor});
}

}  // namespace
}  // namespace attend::faults

using namespace attend::faults;  // NOLINT: the names of the C library are outside

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return opened(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return opened(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return opened(directory, path, flags, mode);
}

int openat64(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return opened(directory, path, flags, mode);
}

ssize_t write(int descriptor, const void* data, size_t size) {
  return written(descriptor, data, size, -1);
}
ssize_t pwrite(int descriptor, const void* data, size_t size, off_t place) {
  return written(descriptor, data, size, place);
}
ssize_t pwrite64(int descriptor, const void* data, size_t size, off64_t place) {
  return written(descriptor, data, size, place);
}

ssize_t read(int descriptor, void* data, size_t size) {
  return read_part(descriptor, size,
                   [&](size_t part) { return ::syscall(SYS_read, descriptor, data, part); });
}
ssize_t pread64(int descriptor, void* data, size_t size, off64_t place) {
  return read_part(descriptor, size, [&](size_t part) {
    return ::syscall(SYS_pread64, descriptor, data, part, place);
  });
}
ssize_t pread(int descriptor, void* data, size_t size, off_t place) {
  return pread64(descriptor, data, size, place);
}

int fsync(int descriptor) { return synced(descriptor); }
int fdatasync(int descriptor) { return synced(descriptor); }
int ftruncate(int descriptor, off_t size) noexcept { return truncated(descriptor, size); }
int ftruncate64(int descriptor, off64_t size) noexcept { return truncated(descriptor, size); }

// What fails to close is closed all the same, as on Linux.
int close(int descriptor) {
  if (!shim().knows(descriptor)) return static_cast<int>(::syscall(SYS_close, descriptor));
  const auto lock = shim().lock();
  const bool failed = shim().fails(Call::kClose);
  const int reason = errno;
  forgotten(descriptor);
  const int result = static_cast<int>(::syscall(SYS_close, descriptor));
  errno = reason;
  return failed ? -1 : result;
}

int closedir(DIR* directory) {
  static auto* const close_real = real<int(DIR*)>("closedir");
  if (!shim().knows(::dirfd(directory))) return close_real(directory);
  const auto lock = shim().lock();
  const bool failed = shim().fails(Call::kClose);
  forgotten(::dirfd(directory));
  const int result = close_real(directory);
  return failed ? -1 : result;
}

int rename(const char* from, const char* to) noexcept {
  return renamed(AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat(int from_directory, const char* from, int to_directory, const char* to) noexcept {
  return renamed(from_directory, from, to_directory, to, 0);
}
int renameat2(int from_directory, const char* from, int to_directory, const char* to,
              unsigned flags) noexcept {
  return renamed(from_directory, from, to_directory, to, flags);
}

int mkdir(const char* path, mode_t mode) noexcept { return made(AT_FDCWD, path, mode); }
int mkdirat(int directory, const char* path, mode_t mode) noexcept {
  return made(directory, path, mode);
}

int unlink(const char* path) noexcept { return unlinked(AT_FDCWD, path, 0); }
int unlinkat(int directory, const char* path, int flags) noexcept {
  return unlinked(directory, path, flags);
}
int rmdir(const char* path) noexcept { return unlinked(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char* path) noexcept {
  if (unlinked(AT_FDCWD, path, 0) == 0) return 0;
  return errno == EISDIR || errno == EPERM ? unlinked(AT_FDCWD, path, AT_REMOVEDIR) : -1;
}

}  // extern "C"
