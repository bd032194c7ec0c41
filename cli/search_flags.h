// What is wrong with the options of a search, taken together.
#pragma once

#include <algorithm>
#include <string>

#include "attend/decode/search.h"
#include "cli/config_flags.h"

namespace attend::cli {

// A usage error that names the option of this path.
[[noreturn]] inline void refuse_flag(std::string path, const std::string& why) {
  std::ranges::replace(path, '_', '-');
  throw CLI::ValidationError("--" + path, why);
}

// Options of drawing and of searching that would do nothing are usage errors.
inline void check_search_flags(const ConfigFlags& flags) {
  SearchConfig search;
  flags.apply(search);
  for (const char* path : {"temperature", "top_k", "top_p", "min_p", "typical_p", "seed"}) {
    if (flags.has(path) && !search.sample) refuse_flag(path, "goes with --sample");
  }
  if (flags.has("beam") && search.sample) refuse_flag("beam", "does not go with --sample");
}

// So are all of them where nothing is searched.
inline void refuse_search_flags(const ConfigFlags& flags, const std::string& why) {
  for (const Flag& flag : flags_of<SearchConfig>()) {
    if (flags.has(flag.path)) refuse_flag(flag.path, why);
  }
}

}  // namespace attend::cli
