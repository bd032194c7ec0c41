// The command `attend` in a process of its own, under the shim.
#pragma once

#include <sys/types.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/faults/trace.h"

namespace attend::faults {

// ATTEND_FAULTS=all: every call, every error, every moment, where a sample is taken otherwise.
bool everything();

struct Ended {
  int code = 0;      // of exit, or 128 and the signal that ended it
  std::string said;  // on standard error
};

// What the shim is told; see shim.cpp.
struct Orders {
  std::filesystem::path root;
  std::string plan = "";
  std::filesystem::path trace = "";
};

class Process {
 public:
  Process(const std::vector<std::string>& arguments, const Orders& orders);
  ~Process();  // kills it, if it has not been waited for
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void kill() const;
  Ended wait();

 private:
  pid_t process_ = -1;
  int status_ = 0;
  int said_ = -1;  // the file of its standard error
};

inline Ended run_attend(const std::vector<std::string>& arguments, const Orders& orders) {
  return Process(arguments, orders).wait();
}

struct TracedCall : Record {
  std::string path, other, data;
};
std::vector<TracedCall> read_trace(const std::filesystem::path& file);

// How many there were of each kind, in the order of Call.
std::array<size_t, static_cast<size_t>(Call::kCount)> count_calls(
    const std::vector<TracedCall>& trace);

}  // namespace attend::faults
