// What is wrong with the options of a search, taken together.
#pragma once

#include <algorithm>
#include <string>

#include "cli/config_flags.h"

namespace attend::cli {

// Options of drawing that would do nothing are usage errors.
inline void check_search_flags(const ConfigFlags& flags) {
  for (const char* path : {"temperature", "top_k", "top_p", "seed"}) {
    if (!flags.has(path) || flags.has("sample")) continue;
    std::string name = path;
    std::ranges::replace(name, '_', '-');
    throw CLI::ValidationError("--" + name, "goes with --sample");
  }
}

}  // namespace attend::cli
