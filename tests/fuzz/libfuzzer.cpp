// libFuzzer's way in: attend_fuzz TARGET [libFuzzer's options], or one of
//
//   attend_fuzz --list              the names of the targets
//   attend_fuzz --longest TARGET    bytes of an input at most
//   attend_fuzz --seeds TARGET DIR  writes the inputs to begin with
//   attend_fuzz --words             a dictionary, as libFuzzer reads it
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "attend/base/parallel.h"
#include "tests/fuzz/target.h"

namespace {

using attend::fuzz::Target;

const Target* chosen = nullptr;

const Target& target_of(const char* name) {
  if (const Target* found = attend::fuzz::find(name)) return *found;
  std::fprintf(stderr, "attend_fuzz: no target '%s'; there are:", name);
  for (const Target& target : attend::fuzz::targets())
    std::fprintf(stderr, " %s", target.name.data());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

void print_words() {
  for (const std::string& word : attend::fuzz::words()) {
    std::string quoted;
    for (const char c : word)
      quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    std::printf("\"%s\"\n", quoted.c_str());
  }
}

void write_seeds(const Target& target, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  size_t number = 0;
  for (const std::string& seed : target.seeds()) {
    std::ofstream(directory / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr const char* kChosen = "ATTEND_FUZZ_TARGET";  // for processes that libFuzzer starts
  const std::string_view first = *argc < 2 ? "" : (*argv)[1];
  if (first == "--list") {
    for (const Target& target : attend::fuzz::targets()) std::printf("%s\n", target.name.data());
  } else if (first == "--words") {
    print_words();
  } else if (first == "--longest" && *argc == 3) {
    std::printf("%zu\n", target_of((*argv)[2]).longest);
  } else if (first == "--seeds" && *argc == 4) {
    write_seeds(target_of((*argv)[2]), (*argv)[3]);
  } else {
    attend::set_thread_count(1);
    if (const char* name = std::getenv(kChosen)) {
      chosen = &target_of(name);
      return 0;
    }
    chosen = &target_of(first.data());
    setenv(kChosen, first.data(), 1);
    // libFuzzer would take the name for a directory of inputs.
    std::copy(*argv + 2, *argv + *argc, *argv + 1);
    --*argc;
    return 0;
  }
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  attend::fuzz::run(*chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}
