// What `--help` prints: the options people use, and examples; `--help-all` has every setting.
#pragma once

#include <CLI/CLI.hpp>

#include <initializer_list>
#include <string>

namespace attend::cli {

// Lays out the help of every command for the width of the terminal.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

// Of the settings of a command (config_flags.h), those that its short help has as well.
void show_in_help(CLI::App& parser, std::initializer_list<const char*> names);
// Options that only --help-all has.
void hide_in_help(CLI::App& parser, std::initializer_list<const char*> names);

// --help-all, where a command has settings that its help leaves out.
void add_help_all(CLI::App& parser);

// `attend help [COMMAND]`, the same as `attend COMMAND --help`.
void add_help(CLI::App& app);

}  // namespace attend::cli
