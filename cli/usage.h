// Usage errors in our own words, with what was probably meant.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace attend::cli {

// The command line with hyphens for the underscores of options that are known by hyphens.
std::vector<std::string> with_hyphens(const CLI::App& app, int argc, char** argv);

// What CLI11 prints for an error of the command line.
std::string usage_message(const CLI::App* app, const CLI::Error& error);

}  // namespace attend::cli
