// The option --adapter of commands that use a model; --help-all shows it.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <vector>

#include "attend/models/adapter.h"

namespace attend::cli {

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
