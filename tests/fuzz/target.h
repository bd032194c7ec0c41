// Fuzz targets: what is done with the bytes of one hostile input, one file a parser in targets/.
//
//   ./dev fuzz NAME SECONDS     libFuzzer makes up inputs (libfuzzer.cpp), and keeps in
//                               corpus/NAME.tar those that reach new code
//   replay_test.cpp             runs what was kept with the other tests, without clang
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend::fuzz {

struct Target {
  std::string_view name;
  // May throw Error, as for a user; whatever else it throws is a defect.
  void (*take)(std::string_view bytes);
  // Whole inputs to begin with.
  std::vector<std::string> (*seeds)();
  size_t longest = 4096;  // bytes of an input that libFuzzer makes
};

std::span<const Target> targets();          // targets.cpp has a line for each
const Target* find(std::string_view name);  // nullptr if there is none

// Runs one input. An Error must be fit to be shown on a terminal: of bounded length, UTF-8, without
// control characters; otherwise, and where a target finds a promise broken, this aborts.
void run(const Target& target, std::string_view bytes);

// For targets: aborts, saying what was promised, unless it holds.
void require(bool holds, std::string_view promise);

// What a parser looks for in a text, such as names of settings: libFuzzer puts them in.
std::vector<std::string> words();

}  // namespace attend::fuzz
