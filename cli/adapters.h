// The model that a command uses, and the option --adapter, which --help-all shows.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <vector>

#include "attend/io/checkpoint.h"
#include "attend/models/adapter.h"
#include "cli/terminal.h"

namespace attend::cli {

// Says so where a model is only the newest checkpoint of its run.
inline void tell_unfinished(const std::filesystem::path& directory) {
  const auto checkpoint = checkpoint_of_unfinished({directory});
  if (!checkpoint) return;
  notify("attend: {}: training has not validated yet; using its newest checkpoint, step {}\n",
         directory.string(), checkpoint->step);
}

inline TextModel load_for_use(const std::filesystem::path& directory,
                              const std::vector<std::filesystem::path>& adapters = {}) {
  TextModel model = load_adapted(directory, adapters);
  tell_unfinished(directory);
  return model;
}

inline void add_adapters(CLI::App& parser, std::vector<std::filesystem::path>& adapters) {
  parser
      .add_option("--adapter", adapters,
                  "directory of an adapter that changes the model; may be given several times")
      ->type_name("DIRECTORY")
      ->group("Settings of the model")
      ->expected(1)
      ->allow_extra_args(false);
}

}  // namespace attend::cli
