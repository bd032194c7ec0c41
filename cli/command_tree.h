// The command line as data: what completions and the man page are printed from, so that they never
// lag behind it.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace attend::cli {

struct OptionInfo {
  std::vector<std::string> names;  // "-h", "--help"; none of a positional
  std::string positional, type, help, group;
  bool takes_value = false, required = false, repeats = false;
  std::vector<std::string> choices;
};

struct CommandInfo {
  std::string path;  // "", "train", "tokenizer encode"
  std::string name, description, footer;
  std::vector<OptionInfo> options;    // its own
  std::vector<CommandInfo> commands;  // below it
};

CommandInfo command_tree(const CLI::App& app);

// Itself, then all below it, each before its own.
std::vector<const CommandInfo*> all_commands(const CommandInfo& root);

std::string bash_completion(const CommandInfo& root);
std::string zsh_completion(const CommandInfo& root);
std::string fish_completion(const CommandInfo& root);
std::string man_page(const CommandInfo& root);  // roff

}  // namespace attend::cli
