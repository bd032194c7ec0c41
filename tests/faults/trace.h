// What the shim records of a process: its calls on files below one directory, in order. A record is
// this header, then the bytes of its path, of the other path, and what was written.
#pragma once

#include <cstdint>

namespace attend::faults {

enum class Call : uint32_t {
  kOpen,      // fd, path; `created`: the file was not there before
  kRead,      // fd
  kWrite,     // fd, the place, what was written
  kTruncate,  // fd, the size as the place
  kSync,      // fd
  kClose,     // fd
  kRename,    // path, other
  kMakeDirectory,
  kUnlink,  // a file, or an empty directory
  kExchange,
  kCount
};

// As a plan names them; "any" stands for all of them.
inline constexpr const char* kCallNames[] = {"open",  "read",   "write", "truncate", "sync",
                                             "close", "rename", "mkdir", "unlink",   "exchange"};

struct Record {
  Call call = Call::kOpen;
  int32_t descriptor = -1;  // where the call does not name its path
  bool failed = false;      // by itself
  bool created = false;
  uint32_t path_size = 0, other_size = 0, data_size = 0;
  uint64_t place = 0;
};

}  // namespace attend::faults
