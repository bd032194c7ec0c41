// attend_hostile write DIRECTORY        every case, in a directory of its own
// attend_hostile open NAME DIRECTORY    reads one that was written; says what is wrong with it
// attend_hostile list                   name, what is expected and the command's arguments, by tabs
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>

#include "tests/hostile/case.h"

namespace attend::hostile {
namespace {

// The most memory this process ever had, in bytes.
size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  size_t kilobytes = 0;
  while (status >> word && word != "VmHWM:") continue;
  status >> kilobytes;
  return 1024 * kilobytes;
}

// The first line of output is by how many bytes the peak grew, the others are the message.
int open_case(const std::string& name, const Path& directory) {
  for (const Case& one : all_cases()) {
    if (one.name != name) continue;
    std::string message;
    const size_t before = peak_memory();
    try {
      one.reader->open(directory / name);
    } catch (const std::exception& error) {
      message = error.what();
    }
    fmt::print("{}\n{}\n", peak_memory() - before, message);
    return 0;
  }
  fmt::print(stderr, "attend_hostile: no case '{}'\n", name);
  return 2;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "write") {
    for (const Case& one : all_cases()) write_case(one, Path(words[1]) / one.name);
    return 0;
  }
  if (words.size() == 3 && words[0] == "open") return open_case(words[1], words[2]);
  if (words.size() == 1 && words[0] == "list") {
    for (const Case& one : all_cases()) {
      const Reader& reader = *one.reader;
      fmt::print("{}\t{}\t{}\t{}\n", one.name, name_in_messages(reader), one.expected,
                 fmt::join(reader.arguments, "\t"));
    }
    return 0;
  }
  fmt::print(stderr, "usage: attend_hostile write DIRECTORY | open NAME DIRECTORY | list\n");
  return 2;
}

}  // namespace
}  // namespace attend::hostile

int main(int argc, char** argv) { return attend::hostile::run({argv + 1, argv + argc}); }
